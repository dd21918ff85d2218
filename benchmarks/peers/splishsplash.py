#!/usr/bin/env python3
"""The same elastic beam in Pliant and in SPlisHSPlasH, run in turns, as a ratio.

    python3 benchmarks/peers/splishsplash.py                   10,976 particles, table
    python3 benchmarks/peers/splishsplash.py --k 14 23 --json  two sizes, one JSON object
    python3 benchmarks/peers/splishsplash.py --method Peer2018 Kugelstadt2021
    python3 benchmarks/peers/splishsplash.py --trajectories    how the tip moves in both, as a plot
    python3 benchmarks/peers/splishsplash.py --peer-only       without Pliant

The peer is the wheel pysplishsplash from PyPI, installed on first use into benchmarks/peers/.venv.
README.md next to this file says what is measured and what the numbers leave out.
"""

import argparse
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import tip_plot

PEER = "pysplishsplash"
PEER_VERSION = "2.19.0"
# What the wheel links against but does not bring along (Debian and Ubuntu names).
SYSTEM_PACKAGES = ["libgl1", "libglx0", "libx11-6", "libxext6"]

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
VENV = HERE / ".venv"
OUT = HERE / "out"
PICTURE = REPOSITORY / "docs" / "pictures" / "peers_tip.svg"
RESULT_MARK = "PEER_RESULT "


class Problem(Exception):
    """Something the user can act on: printed once, without a traceback."""


# ---------------------------------------------------------------------------------------------
# The beam, one description for both programs
# ---------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Method:
    """One elastic method: how each program calls it and what its solver is called there."""
    peer_id: int            # value of "elasticityMethod"
    peer_block: str         # name of its parameter block in the peer's scene
    pliant_model: str       # material.model in a Pliant scene
    pliant_bench: str       # name for `pliant bench`
    zero_energy: float      # default control of zero-energy modes, alpha
    solver: str = ""        # suffix of MAX_ERROR, MAX_ITERATIONS, ITERATIONS in the peer
    pliant_part: str = ""   # the system these stand for, as Pliant reports its products; empty: explicit

    @property
    def implicit(self):
        return bool(self.pliant_part)


METHODS = {
    # Becker 2009 has no zero-energy control in the paper nor by default in the peer
    "Becker2009": Method(1, "Becker et al. 2009", "becker2009", "becker_beam", 0.0),
    "Peer2018": Method(2, "Peer et al. 2018", "peer2018", "peer_beam", 0.1, "", "elastic"),
    "Kugelstadt2021": Method(3, "Kugelstadt et al. 2021", "kugelstadt2021", "kugelstadt_beam", 0.1,
                             "_V", "elastic"),
}

DEFAULT_TOLERANCE = 1e-4    # relative residual of the solvers: the default of both programs

# Wanted of the ratios, by method and particles along a short side: times as "at least", memory as "at least" too
# (6: Pliant needs a sixth).
TARGETS = {
    ("Peer2018", 14): {"ms_step": 8},
    ("Peer2018", 23): {"ms_step": 8},
    ("Kugelstadt2021", 14): {"ms_step": 6, "setup_s": 10, "peak_memory_mb": 6},
    ("Kugelstadt2021", 23): {"ms_step": 20, "setup_s": 20, "peak_memory_mb": 6},
}


@dataclass(frozen=True)
class Beam:
    """Cantilever 4:1:1, clamped over one end, gravity along -y. SI units."""
    k: int                          # particles along a short side
    method: str
    dt: float
    zero_energy: float
    clamp: float = 0.25             # clamped part of the length
    side: float = 1.0
    aspect: int = 4
    youngs_modulus: float = 5e6
    poisson_ratio: float = 0.33
    density: float = 1000.0
    gravity: float = 9.81
    support: float = 2.0            # support radius / spacing
    tolerance: float = DEFAULT_TOLERANCE

    @property
    def spacing(self):
        return self.side / self.k

    @property
    def particles(self):
        return self.aspect * self.k ** 3

    @property
    def clamp_plane(self):
        """x of the plane that ends the clamped part; the beam is centred at x = 0."""
        return self.aspect * self.side * (self.clamp - 0.5)

    @property
    def mass(self):
        """Mass of a particle."""
        return self.density * self.spacing ** 3

    @property
    def end_plane(self):
        """x of the plane before the last layer of particles at the free end."""
        return self.aspect * self.side / 2 - self.spacing

    @property
    def static_sag(self):
        """Of the tip, Timoshenko's theory of small deflections."""
        length, shear = self.aspect * self.side * (1 - self.clamp), self.youngs_modulus / (2 + 2 * self.poisson_ratio)
        load, inertia = self.density * self.gravity * self.side ** 2, self.side ** 4 / 12
        return (load * length ** 4 / (8 * self.youngs_modulus * inertia)
                + load * length ** 2 / (2 * 5 / 6 * shear * self.side ** 2))

    @property
    def clamped_particles(self):
        xs = [(i + 0.5) * self.spacing - self.aspect * self.side / 2 for i in range(self.aspect * self.k)]
        return sum(x < self.clamp_plane for x in xs) * self.k ** 2

    def lattice_neighbors(self, inclusive):
        """Mean number of lattice neighbours within the support, with or without those exactly at its edge."""
        size = (self.aspect * self.k, self.k, self.k)
        reach = range(-int(self.support), int(self.support) + 1)
        pairs = 0
        for d in ((a, b, c) for a in reach for b in reach for c in reach if (a, b, c) != (0, 0, 0)):
            r2 = sum(q * q for q in d)
            if r2 < self.support ** 2 or (inclusive and r2 == self.support ** 2):
                pairs += max(0, size[0] - abs(d[0])) * max(0, size[1] - abs(d[1])) * max(0, size[2] - abs(d[2]))
        return pairs / self.particles


def default_dt(method, k):
    """Fixed step [s]: explicit Becker 2009 needs dt below the sound limit, the implicit methods do not."""
    if method != "Becker2009":
        return 2e-3
    return {14: 7e-4, 23: 4e-4}.get(k, 7e-4 * 14 / k * 0.9)


def peer_scene(beam, viscosity, sort=True):
    """The beam as a SPlisHSPlasH scene; `sort`: along a curve through space, which gives particles new numbers."""
    r = beam.spacing / 2
    half = beam.aspect * beam.side / 2
    method = METHODS[beam.method]
    elasticity = {
        "youngsModulus": beam.youngs_modulus,
        "poissonsRatio": beam.poisson_ratio,
        "alpha": beam.zero_energy,
        "fixedBoxMin": [-10.0, -10.0, -10.0],
        "fixedBoxMax": [beam.clamp_plane, 10.0, 10.0],
    }
    material = {
        "id": "Fluid",              # a block without an id is "Fluid"; any other id here would run as water
        "density0": beam.density,
        "elasticityMethod": method.peer_id,
        method.peer_block: elasticity,
        "viscosityMethod": 1 if viscosity else 0,
    }
    if viscosity:
        material["Standard viscosity"] = {"viscosity": viscosity}
    return {
        "Configuration": {
            "particleRadius": r,            # the support radius is always four of these
            "timeStepSize": beam.dt,
            "cflMethod": 0,                 # fixed step
            "gravitation": [0.0, -beam.gravity, 0.0],
            "simulationMethod": 0,          # WCSPH ...
            "WCSPH": {"stiffness": 0.0, "exponent": 1.0},   # ... whose pressure is zero
            "boundaryHandlingMethod": 0,    # no boundary in the scene: the cheapest of the three
            "enableZSort": sort,
            "stepsPerZSort": 500,
            "numberOfStepsPerRenderUpdate": 1,
        },
        "Materials": [material],
        # The block sampler leaves out one particle per axis and starts a spacing inside, so a block widened by
        # a radius all round holds exactly one particle at each cell centre of the beam.
        "FluidBlocks": [{
            "denseMode": 0,
            "start": [-half - r, -beam.side / 2 - r, -beam.side / 2 - r],
            "end": [half + r, beam.side / 2 + r, beam.side / 2 + r],
        }],
    }


def pliant_scene(beam, duration):
    """The beam as a Pliant scene file, for `pliant run`; `pliant bench` builds the same one itself."""
    half = beam.aspect * beam.side / 2
    tolerance = f"\ntolerance      = {beam.tolerance!r}" if METHODS[beam.method].implicit else ""
    return f"""title = "Beam of {beam.particles} particles, {beam.method}, as compared with SPlisHSPlasH"

[simulation]
spacing   = {beam.spacing!r}
duration  = {duration!r}
gravity   = [0, {-beam.gravity}, 0]
time_step = {beam.dt!r}
pressure  = "none"
kernel    = "cubic_spline"
support   = {beam.support}
contact   = {{ between_bodies = false, within_body = false }}

[output]
formats = []

[materials.beam]
density        = {beam.density}
model          = "{METHODS[beam.method].pliant_model}"
youngs_modulus = {beam.youngs_modulus!r}
poisson_ratio  = {beam.poisson_ratio}
zero_energy    = {beam.zero_energy}{tolerance}

[[bodies]]
name     = "beam"
material = "beam"
shape    = {{ type = "box", size = [{2 * half}, {beam.side}, {beam.side}] }}
sampling = "lattice"

[[bodies.pins]]
region = {{ type = "box", min = [{-half - 1}, {-beam.side}, {-beam.side}], max = [{beam.clamp_plane}, {beam.side}, {beam.side}] }}
motion = "fixed"

[[probes]]
name   = "tip"
body   = "beam"
region = {{ type = "box", min = [{beam.end_plane!r}, {-beam.side}, {-beam.side}], max = [{half + 1}, {beam.side}, {beam.side}] }}
every  = {beam.dt!r}
"""


def write_scenes(beam, viscosity, duration, sort=True):
    """Both scene files in out/: the peer's and Pliant's."""
    OUT.mkdir(exist_ok=True)
    stem = f"beam_{beam.method.lower()}_{beam.particles}"
    theirs, ours = OUT / f"{stem}.splishsplash.json", OUT / f"{stem}.toml"
    theirs.write_text(json.dumps(peer_scene(beam, viscosity, sort), indent=1) + "\n")
    ours.write_text(pliant_scene(beam, duration))
    return theirs, ours


# ---------------------------------------------------------------------------------------------
# Installing the peer
# ---------------------------------------------------------------------------------------------

def say(text):
    print(text, file=sys.stderr, flush=True)


def venv_python():
    return VENV / "bin" / "python"


def tail(text, lines=4):
    return "\n".join("    " + line for line in text.strip().splitlines()[-lines:])


def install_wheel():
    """Makes the virtual environment and installs the pinned wheel, unless it is there."""
    if not venv_python().exists():
        say(f"creating {VENV.relative_to(REPOSITORY)}")
        made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True)
        if made.returncode:
            shutil.rmtree(VENV, ignore_errors=True)
            raise Problem("cannot create a virtual environment (Debian: apt-get install python3-venv):\n"
                          + tail(made.stdout + made.stderr))
    asked = subprocess.run([venv_python(), "-c", f"import importlib.metadata as m; print(m.version('{PEER}'))"],
                           capture_output=True, text=True)
    if asked.stdout.strip() == PEER_VERSION:
        return
    say(f"installing {PEER} {PEER_VERSION}")
    # only a wheel: building it from source takes a C++ tool chain and a good hour
    pip = subprocess.run([venv_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                          "--only-binary", ":all:", f"{PEER}=={PEER_VERSION}"], capture_output=True, text=True)
    if pip.returncode:
        raise Problem(f"cannot install {PEER} {PEER_VERSION}; is PyPI reachable, and is there a wheel for "
                      f"Python {sys.version_info[0]}.{sys.version_info[1]} on this platform?\n" + tail(pip.stderr))


def preload_choices():
    """Values of LD_PRELOAD to try. The wheel brings its own libGLdispatch next to the system's libGL; with both
    loaded in the wrong order the import ends in a segmentation fault, with one of them loaded first it does not."""
    yield "libGLdispatch.so.0 libGLX.so.0"
    yield " ".join(str(p) for p in sorted(VENV.glob("lib/*/site-packages/*.libs/libGLdispatch*")))
    yield ""


def working_preload():
    """The first LD_PRELOAD with which the peer imports, or None and what the last attempt said."""
    said = ""
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))    # crashes expected
    for preload in dict.fromkeys(preload_choices()):
        run = subprocess.run([venv_python(), "-c", f"import {PEER}"], env=dict(os.environ, LD_PRELOAD=preload),
                             capture_output=True, text=True)
        if run.returncode == 0:
            return preload, ""
        crash = f"\nimport ended by signal {-run.returncode}" if run.returncode < 0 else ""
        said = (run.stderr + crash).strip() or f"import ended with code {run.returncode}"
        if said.splitlines()[-1].startswith("ImportError"):
            break       # a library is missing: no order of loading will help
    return None, said


def prepare_peer():
    """Installs what is missing; returns the LD_PRELOAD the peer needs here."""
    install_wheel()
    preload, said = working_preload()
    if preload is None and shutil.which("apt-get"):
        command = ["apt-get", "install", "-y"] + SYSTEM_PACKAGES
        if os.geteuid() != 0:
            raise Problem(f"{PEER} does not import; as root, try:  {' '.join(command)}\n" + tail(said))
        say(f"{PEER} does not import; trying: {' '.join(command)}")
        subprocess.run(["apt-get", "update", "-q"], capture_output=True)
        apt = subprocess.run(command, capture_output=True, text=True)
        if apt.returncode:
            raise Problem("apt-get failed:\n" + tail(apt.stderr))
        preload, said = working_preload()
    if preload is None:
        raise Problem(f"{PEER} is installed but does not import (it needs {', '.join(SYSTEM_PACKAGES)} or your "
                      "system's equivalents):\n" + tail(said))
    return preload


# ---------------------------------------------------------------------------------------------
# The peer, inside its own process and its own Python
# ---------------------------------------------------------------------------------------------

def peak_memory_mb():
    """Peak resident memory of this process [MB]. Not ru_maxrss: that one survives exec, so a child inherits
    the size of whoever started it."""
    try:
        for line in open("/proc/self/status"):
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def check_peer_understood(sph, simulation, model, beam):
    """The peer ignores unknown keys and wrong names silently, so ask it what it made of the scene."""
    elasticity = model.getElasticityBase()
    wanted_and_got = {
        "particles": (beam.particles, model.numActiveParticles()),
        "elasticity method": (METHODS[beam.method].peer_id, model.getElasticityMethod()),
        "particle mass": (beam.mass, model.getMass(0)),
        "time step": (beam.dt, sph.TimeManager.getCurrent().getTimeStepSize()),
        "support radius": (beam.support * beam.spacing, simulation.getSupportRadius()),
        "clamped particles": (beam.clamped_particles, sum(
            model.getParticleState(i) != sph.ParticleState.Active for i in range(beam.particles))),
        "Young's modulus": (beam.youngs_modulus, elasticity.getValueFloat(elasticity.YOUNGS_MODULUS)),
        "Poisson ratio": (beam.poisson_ratio, elasticity.getValueFloat(elasticity.POISSON_RATIO)),
        "alpha": (beam.zero_energy, elasticity.getValueFloat(elasticity.ALPHA)),
    }
    for what, (wanted, got) in wanted_and_got.items():
        if abs(wanted - got) > 1e-5 * abs(wanted):
            raise SystemExit(f"the peer took another {what} from the scene: {got} instead of {wanted}")


class PeerSolver:
    """The iterative solver of the peer's method, if it has one."""
    def __init__(self, model, method):
        self.elasticity, self.suffix, self.used = model.getElasticityBase(), method.solver, method.implicit

    def parameter(self, name):
        return getattr(self.elasticity, name + self.suffix)

    def set_tolerance(self, tolerance):
        """Sets the relative residual; what it was, and how many iterations there may be."""
        if not self.used:
            return {}
        default = self.elasticity.getValueFloat(self.parameter("MAX_ERROR"))
        self.elasticity.setValueFloat(self.parameter("MAX_ERROR"), tolerance)
        taken = self.elasticity.getValueFloat(self.parameter("MAX_ERROR"))
        if abs(taken - tolerance) > 1e-5 * tolerance:
            raise SystemExit(f"the peer does not take a tolerance of {tolerance}: it has {taken}")
        return {"tolerance": tolerance, "default_tolerance": float(f"{default:.3g}"),
                "max_iterations": self.elasticity.getValueUInt(self.parameter("MAX_ITERATIONS"))}

    def iterations(self):
        """Of the last step."""
        return self.elasticity.getValueUInt(self.parameter("ITERATIONS")) if self.used else 0


def start_peer(task):
    """The peer's beam before its first step: (module, base, simulation, model)."""
    import pysplishsplash as sph

    base = sph.Exec.SimulatorBase()
    base.init(useGui=False, sceneFile=task["scene"], outputDir=task["out"], useCache=False, initialPause=False)
    base.initSimulation()
    simulation = sph.Simulation.getCurrent()
    return sph, base, simulation, simulation.getFluidModel(0)


def run_steps(base, after_step):
    """Runs until `after_step`, called after each of them, says it was the last."""
    def callback():
        if after_step():
            base.setValueFloat(base.STOP_AT, 1e-9)
    base.setTimeStepCB(callback)
    base.setValueFloat(base.STOP_AT, 1e9)
    base.runSimulation()


def hand_over(result):
    print(RESULT_MARK + json.dumps(result), flush=True)
    os._exit(0)     # the peer's tear-down is slow and sometimes crashes; the result is out


def follow_peer_tip(task):
    """The mean height of the free end after every step."""
    beam = Beam(**task["beam"])
    sph, base, simulation, model = start_peer(task)
    solver = PeerSolver(model, METHODS[beam.method])
    solver.set_tolerance(beam.tolerance)
    tip = [i for i in range(beam.particles) if model.getPosition(i)[0] > beam.end_plane]
    heights, iterations = [], []

    def after_step():
        if not heights:
            check_peer_understood(sph, simulation, model, beam)
        heights.append(sum(float(model.getPosition(i)[1]) for i in tip) / len(tip))
        iterations.append(solver.iterations())
        return len(heights) == task["steps"] or not abs(heights[-1]) < 10 * beam.side

    run_steps(base, after_step)
    hand_over({"heights": heights, "iterations": iterations})


def run_peer_here(task):
    """Runs the peer's beam and prints one marked line of JSON. Works only under the peer's Python."""
    if task["tip"]:
        return follow_peer_tip(task)
    beam, warm, steps = Beam(**task["beam"]), task["warm"], task["steps"]
    started = time.perf_counter()
    sph, base, simulation, model = start_peer(task)
    solver = PeerSolver(model, METHODS[beam.method])
    tolerances = solver.set_tolerance(beam.tolerance)
    timing = sph.Utilities.Timing

    # All non-pressure forces together: elasticity is the only one in this scene, and Becker 2009 has no timer
    # of its own.
    def forces_total_ms():
        return sum(t.totalTime for t in timing.m_averageTimes.values() if t.name == "computeNonPressureForces")

    step_ms, force_ms, cpu_ms, iterations, seen = [], [], [], [], {"calls": 0}

    def after_step():
        now, cpu = time.perf_counter(), time.process_time()
        seen["calls"] += 1
        if seen["calls"] == 1:
            # the search of step 1 ran on the rest positions: these are the rest neighbours
            seen["setup_s"] = now - started
            seen["neighbors"] = sum(simulation.numberOfNeighbors(0, 0, i) for i in range(beam.particles))
            check_peer_understood(sph, simulation, model, beam)
        elif seen["calls"] > warm + 1:
            step_ms.append(1e3 * (now - seen["left"]))
            cpu_ms.append(1e3 * (cpu - seen["cpu"]))
            force_ms.append(forces_total_ms() - seen["forces"])
            iterations.append(solver.iterations())
        seen["forces"] = forces_total_ms()
        seen["cpu"] = time.process_time()
        seen["left"] = time.perf_counter()      # what this callback does is not part of a step
        return len(step_ms) == steps

    run_steps(base, after_step)
    y = [float(model.getPosition(i)[1]) for i in range(beam.particles)]
    if not all(abs(q) < 10 * beam.side for q in y):     # false for NaN, too
        raise SystemExit(f"the peer's beam blew up; try a smaller --dt than {beam.dt}")
    hand_over({
        "ms_step": min(step_ms), "ms_step_median": median(step_ms),
        "ms_force": min(force_ms), "ms_force_median": median(force_ms),
        "cpu_ms_step": sum(cpu_ms) / steps,     # of all threads, their waiting in loops included
        "steps": len(step_ms), "particles": beam.particles, "pairs": seen["neighbors"],
        "setup_s": seen["setup_s"],     # up to the end of the first step, where rest lists and factors are made
        "peak_memory_mb": peak_memory_mb(),
        "sag": -beam.side / 2 + beam.spacing / 2 - min(y),
        "solver_iterations": sum(iterations) / steps, **tolerances,
    })


# ---------------------------------------------------------------------------------------------
# One run of each
# ---------------------------------------------------------------------------------------------

def busy_seconds():
    """CPU seconds used by the whole machine so far, None where the system does not say."""
    try:
        fields = [int(q) for q in open("/proc/stat").readline().split()[1:9]]
    except OSError:
        return None
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def run_watched(command, **options):
    """subprocess.run, and how many cores *other* processes used meanwhile."""
    def own():
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime
    wall, busy, mine = time.perf_counter(), busy_seconds(), own()
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if busy is None:
        return done, None
    others = (busy_seconds() - busy) - (own() - mine) - 0.05      # the machine counts in ticks of 10 ms a core
    return done, round(max(0.0, others) / (time.perf_counter() - wall), 2)


def run_peer(beam, scene, preload, options, steps, warm=0, tip=False):
    with tempfile.TemporaryDirectory(dir=OUT) as out:
        task = {"beam": asdict(beam), "scene": str(scene), "out": out, "warm": warm, "steps": steps, "tip": tip}
        done, others = run_watched([venv_python(), __file__, "--run-peer-task", json.dumps(task)],
                                   env=dict(os.environ, LD_PRELOAD=preload, OMP_NUM_THREADS=str(options.threads)))
    for line in done.stdout.splitlines():
        if line.startswith(RESULT_MARK):
            return dict(json.loads(line[len(RESULT_MARK):]), other_cores=others)
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"code {done.returncode}"
    raise Problem(f"the peer ended with {how} and no result:\n" + tail(done.stderr or done.stdout, 6))


def pliant_command(options):
    """The program before its arguments; without --pliant, cargo builds it first so that no round compiles."""
    if options.pliant:
        found = shutil.which(options.pliant)
        if not found:
            raise Problem(f"--pliant {options.pliant}: no such program")
        return [str(Path(found).resolve())]
    if not shutil.which("cargo"):
        raise Problem("cargo not found; give the program with --pliant PATH, or use --peer-only")
    say("building pliant (cargo build --release)")
    built = subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=REPOSITORY, capture_output=True, text=True)
    if built.returncode:
        raise Problem("pliant does not build:\n" + tail(built.stderr, 8))
    return ["cargo", "run", "--release", "--quiet", "--"]


def run_pliant(beam, command, options):
    name = METHODS[beam.method].pliant_bench
    arguments = ["bench", name, "--json", "--particles", str(beam.particles), "--threads", str(options.threads),
                 "--zero-energy", f"{beam.zero_energy:g}"]
    if METHODS[beam.method].implicit and beam.tolerance != DEFAULT_TOLERANCE:
        arguments += ["--tolerance", f"{beam.tolerance:g}"]
    try:
        done, others = run_watched(command + arguments, cwd=REPOSITORY)
    except OSError as error:
        raise Problem(f"cannot run {command[0]}: {error}")
    called = "pliant " + " ".join(arguments)
    if done.returncode:
        raise Problem(f"`{called}` ended with code {done.returncode}:\n" + tail(done.stderr or done.stdout, 6))
    row = row_named(name, done.stdout)
    if row is None:
        raise Problem(f"`{called}` printed no JSON line with \"name\":\"{name}\"; it printed:\n"
                      + (tail(done.stdout) or "    nothing"))
    missing = [f for f in ("particles", "pairs", "ms_force", "ms_step")
               if not isinstance(row.get(f), (int, float)) or isinstance(row.get(f), bool)]
    if missing:
        raise Problem(f"the \"{name}\" line of `{called}` has no number in: {', '.join(missing)}")
    if row["particles"] != beam.particles:
        raise Problem(f"`{called}` ran {row['particles']} particles: not the same beam")
    if row["ms_step"] <= 0 or row["ms_force"] <= 0:
        raise Problem(f"`{called}` reports a time of zero")
    products = row.get("products") or {}     # an iteration of ours may be many of them
    solver = {"tolerance": beam.tolerance, "solver_iterations": products.get(METHODS[beam.method].pliant_part)}
    return dict(row, other_cores=others, **(solver if METHODS[beam.method].implicit else {}))


def row_named(name, output):
    for line in output.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("name") == name:
            return row
    return None


# ---------------------------------------------------------------------------------------------
# Rounds and the answer
# ---------------------------------------------------------------------------------------------

COMPARED = ("ms_step", "ms_step_median", "ms_force", "ms_force_median", "setup_s", "peak_memory_mb")


def compare(beam, preload, command, options):
    """Peer, ours, peer, ours, ...; the best of each, and the ratios."""
    steps, warm = measured_steps(beam, options)
    scene, _ = write_scenes(beam, options.viscosity, (warm + steps) * beam.dt)
    rounds = []
    while sum(map(quiet, rounds)) < options.rounds and len(rounds) < (options.tries or 3 * options.rounds):
        rounds.append([run_peer(beam, scene, preload, options, steps, warm)]
                      + ([run_pliant(beam, command, options)] if command else []))
        say(f"{beam.method}, {beam.particles} particles, round {len(rounds)}: "
            + ", ".join(f"{who} {run['ms_step']:.2f} ms" for who, run in zip(("peer", "pliant"), rounds[-1]))
            + ("" if quiet(rounds[-1]) else "  (other processes were busy)"))
    used = [r for r in rounds if quiet(r)] or rounds
    peer_runs, our_runs = [r[0] for r in used], [r[1] for r in used if command]
    answer = {
        "scene": asdict(beam), "particles": beam.particles, "threads": options.threads, "viscosity": options.viscosity,
        "quiet": any(map(quiet, rounds)), "rounds": len(used), "disturbed_rounds": sum(not quiet(r) for r in rounds),
        "lattice_neighbors": [beam.lattice_neighbors(inclusive=False), beam.lattice_neighbors(inclusive=True)],
        "peer": dict(program=f"{PEER} {PEER_VERSION}", **best_of(peer_runs)),
    }
    if our_runs:
        answer["pliant"] = dict(program="pliant", **best_of(our_runs))
        answer["ratio"] = {what: ratio(what, peer_runs, our_runs) for what in COMPARED
                           if what in answer["peer"] and what in answer["pliant"]}
        answer["target"] = TARGETS.get((beam.method, beam.k), {})
    answer["warnings"] = warnings(beam, answer)
    return answer


def measured_steps(beam, options):
    """Steps of the peer, measured and before that. Solvers take more or fewer iterations as the beam swings, so with
    the implicit methods they are those that `pliant bench` measures; but where the peer needs a second for each,
    only a few."""
    if not METHODS[beam.method].implicit:
        steps, warm = 60, 10
    elif beam.method == "Kugelstadt2021" and beam.particles > 30_000:
        steps, warm = 10, 2
    else:
        steps, warm = min(400, max(10, 4_000_000 // beam.particles)), 20
    return options.steps or steps, warm if options.warm is None else options.warm


def quiet(runs):
    """Whether other processes left the cores alone during a round: a disturbed round is repeated, because OpenMP's
    spinning barriers suffer from a busy core more than work stealing does, and the ratio would flatter us."""
    return all(r["other_cores"] is None or r["other_cores"] <= 0.15 for r in runs)


def best_of(runs):
    """The least of each time over the rounds, the rest from the first round, and all rounds for the reader."""
    best = {key: value for key, value in runs[0].items() if key not in ("name", "other_cores")}
    for key in ("ms_step", "ms_step_median", "ms_force", "ms_force_median", "setup_s"):
        if key in best:
            best[key] = min(r[key] for r in runs)
    if "peak_memory_mb" in best:
        best["peak_memory_mb"] = max(r["peak_memory_mb"] for r in runs)
    best["neighbors"] = best["pairs"] / best["particles"]
    best["ns_pair"] = 1e6 * best["ms_force"] / best["pairs"]
    best["all_ms_step"] = [r["ms_step"] for r in runs]
    best["all_ms_force"] = [r["ms_force"] for r in runs]
    best["other_cores"] = [r["other_cores"] for r in runs]
    return best


def ratio(what, peer_runs, our_runs):
    """Peer's time (or memory) / ours: of the bests, and the range of the rounds taken one by one."""
    by_round = [p[what] / o[what] for p, o in zip(peer_runs, our_runs)]
    least = max if what == "peak_memory_mb" else min
    best = least(p[what] for p in peer_runs) / least(o[what] for o in our_runs)
    return {"best": best, "least": min(by_round), "most": max(by_round)}


def warnings(beam, answer):
    found = []
    if not answer["quiet"]:
        found.append("no quiet round: other processes were busy, which slows the peer more than it slows pliant; "
                     "do not quote this ratio")
    ours = answer.get("pliant")
    if ours:
        # Six lattice neighbours lie exactly at the edge of the support, where the kernel is zero. Rounding decides
        # which of them count, so both programs are right between these two numbers.
        least, most = answer["lattice_neighbors"]
        if not 0.99 * least <= ours["neighbors"] <= 1.01 * most:
            found.append(f"pliant has {ours['neighbors']:.1f} neighbours per particle, this beam {least:.1f} to "
                         f"{most:.1f}: another beam, or pairs does not count both i-j and j-i")
        if "zero_energy" in ours and (ours["zero_energy"] > 0) != (beam.zero_energy > 0):
            found.append(f"zero-energy control is {ours['zero_energy']} in pliant and {beam.zero_energy} in the peer")
    return found


def table(answer):
    beam, peer, ours = answer["scene"], answer["peer"], answer.get("pliant")

    def row(label, key, form):
        cells = [f"{side[key]:{form}}" if side and isinstance(side.get(key), (int, float)) else "-"
                 for side in (peer, ours)]
        text = f"  {label:<22}{cells[0]:>24}{cells[1]:>12}"
        if ours and key in answer["ratio"]:
            r, target = answer["ratio"][key], answer["target"].get(key.removesuffix("_median"))
            text += f"{r['best']:>14.2f}  {f'>= {target}' if target else '':<7} ({r['least']:.2f} to {r['most']:.2f})"
        return text.rstrip()

    solver = [row("tolerance, relative", "tolerance", ".0e"), row("products per step", "solver_iterations", ".1f")]
    return "\n".join([
        f"Beam 4:1:1, {answer['particles']:,} particles (k = {beam['k']}), {beam['method']}, dt {1e3 * beam['dt']:g} ms, "
        f"zero-energy control {beam['zero_energy']:g}, {answer['threads']} threads, best of {answer['rounds']} rounds",
        f"  {'':<22}{peer['program']:>24}{'pliant':>12}{'peer/pliant  target  (by round)' if ours else '':>34}".rstrip(),
        row("whole step [ms]", "ms_step", ".2f"),
        row("  its median", "ms_step_median", ".2f"),
        row("elastic force [ms]", "ms_force", ".2f"),
        row("  its median", "ms_force_median", ".2f"),
        row("  per pair [ns]", "ns_pair", ".2f"),
        row("neighbours / particle", "neighbors", ".1f"),
        row("set-up + 1st step [s]", "setup_s", ".2f"),
        row("peak memory [MB]", "peak_memory_mb", ".0f"),
    ] + (solver if METHODS[beam["method"]].implicit else []) + [f"  note: {text}" for text in answer["warnings"]])


# ---------------------------------------------------------------------------------------------
# The motion of the tip
# ---------------------------------------------------------------------------------------------

def pliant_tip(scene, command, options):
    """Heights of the tip by `pliant run`, at the start and after every step."""
    with tempfile.TemporaryDirectory(dir=OUT) as out:
        folder = Path(out) / "run"
        arguments = ["run", str(scene), "--output", str(folder), "--threads", str(options.threads)]
        done = subprocess.run(command + arguments, cwd=REPOSITORY, capture_output=True, text=True)
        if done.returncode:
            raise Problem(f"`pliant run {scene.name}` ended with code {done.returncode}:\n"
                          + tail(done.stderr or done.stdout, 6))
        with open(folder / "probes.csv") as table_of_probes:
            return [float(row["tip.position.y"]) for row in csv.DictReader(table_of_probes)]


def swing(times, heights):
    """The lowest point of a swing and when it is reached, between samples by a parabola."""
    n = min(range(len(heights)), key=heights.__getitem__)
    if not 0 < n < len(heights) - 1:
        return {"lowest": heights[n], "lowest_at": times[n]}
    before, at, after = heights[n - 1:n + 2]
    shift = 0.5 * (before - after) / (before - 2 * at + after)
    return {"lowest": at - 0.25 * (before - after) * shift, "lowest_at": times[n] + shift * (times[1] - times[0])}


def follow_tip(beam, preload, command, options):
    """The tip over the first second in both programs, also as a CSV file in out/."""
    steps = round(1.0 / beam.dt)
    theirs, ours = write_scenes(beam, options.viscosity, steps * beam.dt, sort=False)
    say(f"{beam.method}: {steps} steps of {1e3 * beam.dt:g} ms in both programs")
    times = [n * beam.dt for n in range(steps + 1)]
    tip = run_peer(beam, theirs, preload, options, steps, tip=True)
    peer = [0.0] + tip["heights"]
    pliant = pliant_tip(ours, command, options)
    if not len(peer) == len(pliant) == steps + 1:
        raise Problem(f"{beam.method}: {len(peer) - 1} steps of the peer, {len(pliant) - 1} of pliant, not {steps}; "
                      "a beam that blows up ends early")
    with open(OUT / f"tip_{beam.method.lower()}_{beam.particles}.csv", "w") as file:
        file.writelines(["time,peer,pliant\n"] + [f"{t:.6g},{a:.7g},{b:.7g}\n" for t, a, b in zip(times, peer, pliant)])
    return {"method": beam.method, "particles": beam.particles, "dt": beam.dt, "zero_energy": beam.zero_energy,
            "tolerance": beam.tolerance, "static_sag": beam.static_sag, "times": times, "peer": peer, "pliant": pliant,
            "peer_swing": swing(times, peer), "pliant_swing": swing(times, pliant),
            "peer_iterations": sum(tip["iterations"]) / steps,
            "largest_difference": max(abs(a - b) for a, b in zip(peer, pliant))}


def draw_trajectories(preload, command, options):
    """Follows the tip with each method, draws all, and prints how the swings differ."""
    if command is None or len(options.k) > 1:
        raise Problem("--trajectories takes both programs and one size")
    followed = [follow_tip(beam_of(m, options.k[0], options), preload, command, options) for m in options.method]
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(tip_plot.draw(followed, f"{PEER} {PEER_VERSION}"))
    if options.json:
        return print(json.dumps({"benchmark": "splishsplash_tip", "results": followed}))
    print(f"{'lowest tip [m] at [s]':<24}{'peer':>18}{'pliant':>18}{'peer/pliant':>22}{'largest gap [m]':>18}")
    for row in followed:
        peer, ours = row["peer_swing"], row["pliant_swing"]
        print(f"{row['method']:<24}"
              + "".join(f"{s['lowest']:>9.4f} {s['lowest_at']:>8.4f}" for s in (peer, ours))
              + f"{peer['lowest'] / ours['lowest']:>14.3f} {peer['lowest_at'] / ours['lowest_at']:>7.3f}"
              + f"{row['largest_difference']:>18.4f}")
    print(f"static sag of a slender beam (Timoshenko): {followed[0]['static_sag']:.4f} m; drawn in "
          f"{PICTURE.relative_to(REPOSITORY)}")


def read_options():
    p = argparse.ArgumentParser(description="The same elastic beam in Pliant and in SPlisHSPlasH, run in turns.")
    p.add_argument("--k", type=int, nargs="+", default=[14], metavar="K",
                   help="particles along a short side, one or more (14: 10,976 particles; 23: 48,668)")
    p.add_argument("--method", choices=METHODS, nargs="+",
                   help="one or more (default: Becker2009; with --trajectories all)")
    p.add_argument("--dt", type=float, help="fixed time step in s (default: by method and size)")
    p.add_argument("--zero-energy", type=float, help="control of zero-energy modes, alpha (default: 0 for Becker2009)")
    p.add_argument("--tolerance", type=float, default=DEFAULT_TOLERANCE,
                   help="relative residual of the implicit methods' solvers, in both programs (default 1e-4)")
    p.add_argument("--trajectories", action="store_true",
                   help="no times: the height of the tip over a second in both programs, drawn in docs/pictures")
    p.add_argument("--viscosity", type=float, default=0.0,
                   help="the peer's standard viscosity; its cost then counts as elastic force (default 0: off)")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--rounds", type=int, default=5, help="rounds wanted; disturbed ones are repeated")
    p.add_argument("--tries", type=int, help="rounds at most, disturbed ones included (default: three times --rounds)")
    p.add_argument("--steps", type=int,
                   help="measured steps of the peer in a round (default: 60; implicit methods as `pliant bench`)")
    p.add_argument("--warm", type=int, help="steps before those (default: 10; implicit methods 20)")
    p.add_argument("--pliant", metavar="PATH", help="the pliant program (default: cargo run --release)")
    p.add_argument("--peer-only", action="store_true", help="only the peer")
    p.add_argument("--install-only", action="store_true", help="install the peer, check that it imports, stop")
    p.add_argument("--json", action="store_true", help="one JSON object on standard output, nothing else there")
    p.add_argument("--run-peer-task", help=argparse.SUPPRESS)      # how the script calls itself under .venv
    options = p.parse_args()
    for name, least in (("threads", 1), ("rounds", 1), ("tries", 1), ("steps", 1), ("warm", 0)):
        if getattr(options, name) is not None and getattr(options, name) < least:
            p.error(f"--{name} must be at least {least}")
    if min(options.k) < 3:
        p.error("--k must be at least 3")
    if options.dt is not None and not options.dt > 0:
        p.error("--dt must be positive")
    if not 1e-6 <= options.tolerance <= 0.1:
        p.error("--tolerance must be from 1e-6 to 0.1")
    options.method = options.method or (list(METHODS) if options.trajectories else ["Becker2009"])
    return options


def beam_of(method, k, options):
    alpha = METHODS[method].zero_energy if options.zero_energy is None else options.zero_energy
    return Beam(k, method, options.dt or default_dt(method, k), alpha, tolerance=options.tolerance)


def main():
    options = read_options()
    if options.run_peer_task:
        return run_peer_here(json.loads(options.run_peer_task))
    preload = prepare_peer()
    if options.install_only:
        return say(f"{PEER} {PEER_VERSION} imports" + (f" with LD_PRELOAD=\"{preload}\"" if preload else ""))
    command = None if options.peer_only else pliant_command(options)
    if options.trajectories:
        return draw_trajectories(preload, command, options)
    answers = []
    for beam in (beam_of(method, k, options) for k in options.k for method in options.method):
        answers.append(compare(beam, preload, command, options))
        if not options.json:
            print(table(answers[-1]), flush=True)
    if options.json:
        print(json.dumps({"benchmark": "splishsplash_beam", "results": answers}))


if __name__ == "__main__":
    try:
        main()
    except Problem as problem:
        say(f"error: {problem}")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
