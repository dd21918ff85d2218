"""The tip of the beam over time in two programs, one panel a method, as an SVG file without any library."""

WIDTH, HEIGHT = 900, 380
LEFT, RIGHT, TOP, BOTTOM, GAP = 62, 18, 66, 48, 18      # margins, and between panels [px]
COLORS = {"peer": "#c4501b", "pliant": "#1f5fa8"}
INK, PALE = "#333333", "#dddddd"


def draw(followed, peer_name):
    """`followed`: a dictionary for each method, with times [s] and heights [m] of both programs."""
    lowest = min(min(run[who]) for run in followed for who in COLORS)
    floor = -0.1 * (int(-lowest / 0.1) + 1)
    end = max(run["times"][-1] for run in followed)
    width = (WIDTH - LEFT - RIGHT - GAP * (len(followed) - 1)) / len(followed)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
             f'font-size="13" fill="{INK}">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for n, run in enumerate(followed):
        parts += panel(run, LEFT + n * (width + GAP), width, end, floor, n == 0, n == len(followed) - 1)
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<text transform="translate(16 {middle:.0f}) rotate(-90)" text-anchor="middle">'
                 'height of the tip [m]</text>')
    return "\n".join(parts + legend(followed, peer_name) + ["</svg>"]) + "\n"


def panel(run, left, width, end, floor, first, last):
    """Frame, ticks and both curves of one method."""
    bottom = HEIGHT - BOTTOM

    def x(t):
        return left + width * t / end

    def y(height):
        return TOP + (bottom - TOP) * height / floor

    parts = []
    for tick in range(round(-floor / 0.1) + 1):
        at = y(-0.1 * tick)
        parts.append(f'<path d="M{left:.1f} {at:.1f}h{width:.1f}" stroke="{PALE}"/>')
        if first:
            parts.append(f'<text x="{left - 6:.1f}" y="{at + 4:.1f}" text-anchor="end">{-0.1 * tick or 0:.1f}</text>')
    for tick in range(6):
        t = end * tick / 5
        parts.append(f'<path d="M{x(t):.1f} {bottom}v5" stroke="{INK}"/>')
        if tick < 5 or last:       # else the last would touch the first of the next panel
            parts.append(f'<text x="{x(t):.1f}" y="{bottom + 18}" text-anchor="middle">{t:.1f}</text>')
    parts.append(f'<path d="M{left:.1f} {y(-run["static_sag"]):.1f}h{width:.1f}" stroke="{INK}" '
                 'stroke-dasharray="2 4"/>')
    for who, color in COLORS.items():
        parts.append(f'<path d="{curve(run["times"], run[who], x, y)}" fill="none" stroke="{color}" stroke-width="2"'
                     + (' stroke-dasharray="7 4"' if who == "peer" else "") + "/>")
    parts += [f'<rect x="{left:.1f}" y="{TOP}" width="{width:.1f}" height="{bottom - TOP}" fill="none" '
              f'stroke="{INK}"/>',
              f'<text x="{left + width / 2:.1f}" y="{TOP - 8}" text-anchor="middle">{run["method"]}, '
              f'{1e3 * run["dt"]:g} ms</text>',
              f'<text x="{left + width / 2:.1f}" y="{HEIGHT - 10}" text-anchor="middle">time [s]</text>']
    return parts


def curve(times, heights, x, y):
    """About a hundred points, which is more than the eye can tell from all."""
    every = max(1, len(times) // 100)
    points = list(zip(times, heights))[::every]
    if (len(times) - 1) % every:
        points.append((times[-1], heights[-1]))
    return "M" + "L".join(f"{x(t):.1f} {y(h):.1f}" for t, h in points)


def legend(followed, peer_name):
    run = followed[0]
    parts, at = [], LEFT
    for label, color, dashes, width in (("Pliant", COLORS["pliant"], "", 2), (peer_name, COLORS["peer"], "7 4", 2),
                                        ("static sag of beam theory (Timoshenko)", INK, "2 4", 1)):
        parts.append(f'<path d="M{at} 18h34" stroke="{color}" stroke-width="{width}" stroke-dasharray="{dashes}"/>')
        parts.append(f'<text x="{at + 42}" y="22">{label}</text>')
        at += 70 + 7 * len(label)
    parts.append(f'<text x="{WIDTH - RIGHT}" y="22" text-anchor="end">{run["particles"]:,} particles</text>')
    return parts
