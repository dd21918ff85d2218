//! The program from outside: what it prints, writes, and how it ends.

mod checkpoints;
mod commands;
mod convert;
mod exit_codes;
mod folder;
mod interrupted;
mod killed;
mod pictures;
mod places;
mod repeatable;
mod support;
mod surfaces;
