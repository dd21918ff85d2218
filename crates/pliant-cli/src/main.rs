//! The command line program: one file per subcommand, no physics.

/// `println!` for programs in a pipe: when nobody reads on, there is nothing left to do.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write;
        if let Err(error) = writeln!(std::io::stdout(), $($words)*) {
            $crate::complain::nobody_listens(&error);
        }
    }};
}

mod bench;
mod check;
mod complain;
mod convert;
mod render;
mod run;
mod sample;
mod scenes;
mod surface;
mod validate;

use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;

/// Matter that bends, flows, yields, breaks, melts and freezes, as particles.
#[derive(Parser)]
#[command(name = "pliant", version, propagate_version = true, subcommand_negates_reqs = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scene: frames, statistics, checkpoints, a movie
    Run(run::Arguments),
    /// Draw pictures and movies of a run's folder
    Render(render::Arguments),
    /// What would run: particles, memory, stable time step, warnings
    Check(check::Arguments),
    /// List the bundled scenes, or print one
    Scenes(scenes::ScenesArguments),
    /// Write stored frames in another format, or a scene of SPlisHSPlasH as one of Pliant
    Convert(convert::Arguments),
    /// Write a commented starter scene
    New(scenes::NewArguments),
    /// Fill a mesh with particles
    Sample(sample::Arguments),
    /// Make surfaces from the stored frames of a run
    Surface(surface::Arguments),
    /// Compare with closed forms and converged references
    Validate(validate::Arguments),
    /// Measure speed
    Bench(bench::Arguments),
    /// Print the JSON schema of scene files, for editors
    Schema,
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
}

fn main() -> ExitCode {
    let command = Cli::parse().command.unwrap_or(Command::Run(run::Arguments::default()));
    set_threads(&command);
    // Commands run on a thread of the pool: handing small loops to it from outside costs more than the loops.
    rayon::scope(|_| command.execute()).unwrap_or_else(|error| complain::report(&error))
}

/// The pool that everything runs in; without a wish it has a thread per core.
fn set_threads(command: &Command) {
    let threads = match command {
        Command::Run(arguments) => arguments.threads,
        Command::Validate(arguments) => arguments.threads,
        Command::Bench(arguments) => arguments.threads,
        _ => None,
    };
    if let Some(threads) = threads {
        // Fails only if the pool exists already, and nothing has run yet.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    }
}

impl Command {
    fn execute(self) -> anyhow::Result<ExitCode> {
        match self {
            Command::Run(arguments) => run::run(arguments),
            Command::Render(arguments) => render::run(arguments),
            Command::Check(arguments) => check::run(arguments),
            Command::Convert(arguments) => convert::run(arguments),
            Command::Scenes(arguments) => scenes::list(arguments),
            Command::New(arguments) => scenes::new(arguments),
            Command::Sample(arguments) => sample::run(arguments),
            Command::Surface(arguments) => surface::run(arguments),
            Command::Validate(arguments) => validate::run(arguments),
            Command::Bench(arguments) => bench::run(arguments),
            Command::Schema => scenes::schema(),
            Command::Completions { shell } => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut Cli::command(), "pliant", &mut script);
                say!("{}", String::from_utf8_lossy(&script).trim_end());
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
