#!/usr/bin/env python3
"""Water, and elastic beams under pressure, in Pliant and in SPlisHSPlasH, run in turns, as a ratio.

    python3 benchmarks/peers/flows.py                          dam break of 100,000 particles against DFSPH
    python3 benchmarks/peers/flows.py --case beam_dfsph beam_iisph
    python3 benchmarks/peers/flows.py --particles 20000 --duration 0.3 --json

Both programs get the same block of particles, the same walls (the peer's are one layer of particles, Akinci et al.
2012), the same Courant number, the same longest step and the same mean density error, and simulate the same time.
What counts is the wall time of the steps; pictures and files are off.
"""

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from splishsplash import (METHODS, OUT, RESULT_MARK, VENV, Beam, Problem, hand_over, peak_memory_mb, peer_scene,
                          pliant_command, pliant_scene, prepare_peer, run_steps, run_watched, say, start_peer, tail,
                          venv_python)

DENSITY_ERROR = 1e-3        # mean, relative
LONGEST_STEP = 5e-3         # [s]
PRESSURE = {                # of the peer: value of "simulationMethod", its block
    "DFSPH": (4, {"maxError": 100 * DENSITY_ERROR, "maxErrorV": 100 * DENSITY_ERROR, "enableDivergenceSolver": True}),
    "IISPH": (3, {"maxError": 100 * DENSITY_ERROR}),
}
CASES = {
    "dam_break": "DFSPH",
    "beam_dfsph": "DFSPH",      # with Kugelstadt 2021
    "beam_iisph": "IISPH",      # with Peer 2018
}
BEAMS = {"beam_dfsph": "Kugelstadt2021", "beam_iisph": "Peer2018"}
START = {"dam_break": 0.0, "beam_dfsph": 0.02, "beam_iisph": 0.02}    # from here on time counts: Pliant's first frame [s]
TARGETS = {"dam_break": 2, "beam_dfsph": 4, "beam_iisph": 4}


def dam(particles):
    """Sides of the block and of the tank, and the spacing."""
    block, tank = (0.8, 1.0, 1.0), (2.0, 1.6, 1.0)
    spacing = (0.8 / particles) ** (1 / 3)
    spacing = 0.2 / max(1, round(0.2 / spacing))     # all sides are whole numbers of it
    return block, tank, spacing


def dam_of_peer(particles):
    block, tank, s = dam(particles)
    r = s / 2
    # the peer's sampler leaves out one particle per axis; its wall particles lie on the mesh, a spacing from the water
    wall = [q + s for q in tank]
    start = [-tank[0] / 2 - r, -r, -tank[2] / 2 - r]
    end = [-tank[0] / 2 + block[0] + r, block[1] + r, tank[2] / 2 + r]
    return {
        "RigidBodies": [{
            "geometryFile": str(VENV / "bin" / "data" / "models" / "UnitBox.obj"),
            "translation": [0, tank[1] / 2, 0], "scale": wall, "isDynamic": False, "isWall": True,
            "mapInvert": True, "mapThickness": 0.0, "mapResolution": [25, 25, 25],
        }],
        "Materials": [{"id": "Fluid", "density0": 1000, "viscosityMethod": 1,
                       "Standard viscosity": {"viscosity": 0.01}}],
        "FluidBlocks": [{"denseMode": 0, "start": start, "end": end}],
    }, s


def dam_of_pliant(particles, duration):
    block, tank, s = dam(particles)
    return f"""title = "Dam break, as compared with SPlisHSPlasH"

[simulation]
spacing       = {s!r}
duration      = {duration!r}
time_step     = {{ max = {LONGEST_STEP}, cfl = 0.4 }}
density_error = {DENSITY_ERROR}
kernel        = "cubic_spline"

[output]
formats = []
fps     = {1 / duration!r}

[materials.water]
model   = "fluid"
density = 1000

[[bodies]]
name     = "water"
material = "water"
shape    = {{ type = "box", size = {list(block)} }}
position = [{-tank[0] / 2 + block[0] / 2}, {block[1] / 2}, 0]

[[rigids]]
name     = "tank"
shape    = {{ type = "box", size = {list(tank)}, inside_out = true }}
position = [0, {tank[1] / 2}, 0]
"""


def beam_of(case, particles):
    method = BEAMS[case]
    k = round((particles / 4) ** (1 / 3))
    return Beam(k=k, method=method, dt=2e-3, zero_energy=METHODS[method].zero_energy)


def scenes(case, particles, duration):
    """The two scene files, and the number of particles."""
    OUT.mkdir(exist_ok=True)
    method, block = PRESSURE[CASES[case]]
    if case == "dam_break":
        theirs, s = dam_of_peer(particles)
        theirs["Configuration"] = {
            "particleRadius": s / 2, "gravitation": [0, -9.81, 0], "timeStepSize": 1e-3,
            "cflMethod": 1, "cflFactor": 1, "cflMaxTimeStepSize": LONGEST_STEP,
            "boundaryHandlingMethod": 0, "numberOfStepsPerRenderUpdate": 1,
        }
        ours = dam_of_pliant(particles, duration)
        particles = round(0.8 / s ** 3)
    else:
        beam = beam_of(case, particles)
        theirs, ours = peer_scene(beam, 0.0), pliant_scene(beam, duration)
        ours = ours.replace('"none"', '"iisph"').replace("contact   = { between_bodies = false, within_body = false }",
                                                         f"density_error = {DENSITY_ERROR}")
        ours = ours[:ours.index("[[probes]]")]
        particles = beam.particles
    theirs["Configuration"].update({"simulationMethod": method, CASES[case]: block})
    stem = OUT / f"{case}_{particles}"
    Path(f"{stem}.splishsplash.json").write_text(json.dumps(theirs, indent=1) + "\n")
    Path(f"{stem}.toml").write_text(ours)
    return f"{stem}.splishsplash.json", f"{stem}.toml", particles


def run_peer_here(task):
    """Steps of the peer until the time is reached. Works only under the peer's Python."""
    sph, base, simulation, model = start_peer(task)
    if model.numActiveParticles() != task["particles"]:
        raise SystemExit(f"the peer made {model.numActiveParticles()} particles of {task['particles']}")
    clock = sph.TimeManager.getCurrent()
    seen = {"steps": 0}

    def after_step():
        now = time.perf_counter()
        if "first" not in seen:
            if clock.getTime() >= task["start"]:    # at least one step, which makes lists and factors
                seen["first"], seen["from"] = now, clock.getTime()
            return False
        seen["steps"] += 1
        seen["last"] = now
        return clock.getTime() >= task["duration"]

    run_steps(base, after_step)
    speed = max(max(abs(float(q)) for q in model.getVelocity(i)) for i in range(0, task["particles"], 97))
    hand_over({
        "seconds": seen["last"] - seen["first"], "simulated": clock.getTime() - seen["from"],
        "steps": seen["steps"], "peak_memory_mb": peak_memory_mb(), "speed": speed,
        "center_x": sum(float(model.getPosition(i)[0]) for i in range(0, task["particles"], 97))
        / len(range(0, task["particles"], 97)),
    })


def run_peer(scene, particles, start, duration, preload, threads):
    with tempfile.TemporaryDirectory(dir=OUT) as out:
        task = {"scene": scene, "out": out, "particles": particles, "start": start, "duration": duration}
        done, others = run_watched([venv_python(), __file__, "--run-peer-task", json.dumps(task)],
                                   env=dict(os.environ, LD_PRELOAD=preload, OMP_NUM_THREADS=str(threads)))
    for line in done.stdout.splitlines():
        if line.startswith(RESULT_MARK):
            return dict(json.loads(line[len(RESULT_MARK):]), other_cores=others)
    raise Problem(f"the peer ended with code {done.returncode} and no result:\n" + tail(done.stderr or done.stdout, 6))


def run_pliant(scene, command, threads):
    with tempfile.TemporaryDirectory(dir=OUT) as out:
        done, others = run_watched(command + ["run", scene, "-o", f"{out}/run", "--threads", str(threads)])
        if done.returncode:
            raise Problem("pliant failed:\n" + tail(done.stderr, 6))
        summary = json.loads(Path(f"{out}/run/summary.json").read_text())
        rows = list(csv.DictReader(Path(f"{out}/run/stats.csv").read_text().splitlines()))
    # the first frame makes lists and factors; a run of one frame counts as a whole
    first, last = rows[1] if len(rows) > 2 else rows[0], rows[-1]
    since = lambda column: float(last[column]) - float(first[column])
    body = next(iter(summary["particles"]))
    return {
        "seconds": sum(since(column) for column in last if column.startswith("ms_")) / 1e3,
        "simulated": since("time"), "steps": int(since("steps")),
        "peak_memory_mb": summary["peak_memory_mb"], "iterations": summary.get("pressure", {}).get("mean"),
        "center_x": float(last[f"{body}.center.x"]), "density_error": float(last["density_error"]),
        "other_cores": others,
    }


def compare(case, options, command, preload):
    theirs, ours, particles = scenes(case, options.particles, options.duration)
    best = {}
    for _ in range(options.rounds):
        for who in ("pliant", "peer"):
            say(f"{case}, {particles} particles: {who}")
            result = (run_pliant(ours, command, options.threads) if who == "pliant"
                      else run_peer(theirs, particles, START[case], options.duration, preload, options.threads))
            result["per_second"] = result["seconds"] / result["simulated"]
            if who not in best or result["per_second"] < best[who]["per_second"]:
                best[who] = result
    ratio = best["peer"]["per_second"] / best["pliant"]["per_second"]
    return {"case": case, "peer_solver": CASES[case], "particles": particles, **best,
            "ratio": round(ratio, 2), "wanted": TARGETS[case]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=["dam_break"])
    parser.add_argument("--particles", type=int, default=100_000)
    parser.add_argument("--duration", type=float, default=0.5, help="simulated time [s]")
    parser.add_argument("--rounds", type=int, default=1, help="turns of each; the best counts")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pliant", help="program to use instead of building one")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--run-peer-task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run_peer_task:
        return run_peer_here(json.loads(options.run_peer_task))
    try:
        preload, command = prepare_peer(), pliant_command(options)
        for case in options.case:
            result = compare(case, options, command, preload)
            if options.json:
                print(json.dumps(result), flush=True)
                continue
            for who in ("pliant", "peer"):
                row = result[who]
                print(f"{case:12} {who:7} {row['per_second']:9.2f} s per simulated second, {row['steps']} steps, "
                      f"{row['peak_memory_mb']:.0f} MB, centre at x = {row['center_x']:.3f} m")
            print(f"{case:12} ratio {result['ratio']:.2f} (wanted: {result['wanted']})", flush=True)
    except Problem as problem:
        sys.exit(f"flows.py: {problem}")


if __name__ == "__main__":
    main()
