//! The scene file as a tree of values that know where they were written.

use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Origin, SceneError};
use super::overrides;
use super::suggest::{one_line, quoted};

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where its key is written; list elements have none.
    pub key: Option<Place>,
    pub place: Place,
    pub kind: Kind,
}

/// Bytes of the file, or of the override with this number.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub overridden_by: Option<usize>,
    pub span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date(String),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<(String, Node)>),
}

impl Node {
    pub fn child(&self, key: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Table(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    pub fn child_mut(&mut self, key: &str) -> Option<&mut Node> {
        match &mut self.kind {
            Kind::Table(entries) => entries.iter_mut().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }
}

impl Kind {
    /// What it is, for messages: `the number 3`, `a list`.
    pub fn describe(&self) -> String {
        match self {
            Kind::Text(text) => format!("the text {}", quoted(text)),
            Kind::Integer(number) => format!("the number {number}"),
            Kind::Float(number) => format!("the number {number:?}"),
            Kind::Bool(flag) => format!("{flag}"),
            Kind::Date(date) => format!("the date {date}"),
            Kind::List(_) => "a list".into(),
            Kind::Table(_) => "a table".into(),
        }
    }
}

/// Everything the user said: the file, the overrides, and the tree they make together.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub file: String,
    pub text: Arc<str>,
    pub overrides: Vec<String>,
    pub root: Node,
}

impl Source {
    pub fn parse(file: &str, text: &str, overrides: &[String]) -> Result<Self, SceneError> {
        let root = Place { overridden_by: None, span: 0..0 };
        let mut source = Source {
            file: file.to_owned(),
            text: text.into(),
            overrides: overrides.to_vec(),
            root: Node { key: None, place: root.clone(), kind: Kind::Table(Vec::new()) },
        };
        let table = DeTable::parse(text).map_err(|error| source.syntax_error(&error))?;
        let grower = Grower { source: &source, overridden_by: None, offset: 0 };
        let kind = grower.table(table.into_inner())?;
        source.root = Node { key: None, place: root, kind };
        for index in 0..overrides.len() {
            overrides::apply(&mut source, index)?;
        }
        Ok(source)
    }

    /// An error at a place, still without words.
    pub fn error(&self, place: &Place) -> SceneError {
        match place.overridden_by {
            None => SceneError::new(Origin::File, self.file.clone(), self.text.clone(), place.span.clone()),
            Some(index) => {
                let setting = self.overrides[index].as_str();
                let file = format!("--set {}", one_line(setting));
                SceneError::new(Origin::Override, file, setting.into(), place.span.clone())
            }
        }
    }

    fn syntax_error(&self, error: &toml::de::Error) -> SceneError {
        let span = error.span().unwrap_or(0..0);
        let message = error.message().trim();
        let rest = self.text.get(span.start..).unwrap_or("").trim_start_matches([' ', '\t']);
        let at_line_end = rest.is_empty() || rest.starts_with(['\n', '\r', '#']);
        let (message, help) = if message.contains("quoted") && at_line_end {
            ("a value is missing here", "write a value after the =, or remove the line")
        } else if message.contains("quoted") {
            (message, "put text between double quotes, as in model = \"mls2004\"")
        } else if message.contains("duplicate key") {
            (message, "give each key and each table once; remove or rename one of the two")
        } else if message.contains("recurs") {
            ("this is nested too deeply", "nest less deeply: no scene needs more than five levels")
        } else {
            (message, "write key = value lines under [table] headings; text in double quotes, lists in [ ]")
        };
        let message = format!("this is not valid TOML: {}", first_line(message));
        self.error(&Place { overridden_by: None, span }).saying(message, help)
    }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or("syntax error")
}

/// Turns parsed TOML into nodes; `offset` is where the parsed text begins in its source.
pub(super) struct Grower<'a> {
    pub source: &'a Source,
    pub overridden_by: Option<usize>,
    pub offset: usize,
}

impl Grower<'_> {
    pub fn node(&self, value: Spanned<DeValue<'_>>) -> Result<Node, SceneError> {
        let place = self.place(value.span());
        let kind = match value.into_inner() {
            DeValue::String(text) => Kind::Text(text.into_owned()),
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(number) => Kind::Integer(number),
                Err(_) => return Err(self.too_large(&place)),
            },
            DeValue::Float(digits) => match digits.as_str().parse::<f64>() {
                Ok(number) if number.is_infinite() && !digits.as_str().contains("inf") => {
                    return Err(self.too_large(&place));
                }
                Ok(number) => Kind::Float(number),
                Err(_) => return Err(self.too_large(&place)),
            },
            DeValue::Boolean(flag) => Kind::Bool(flag),
            DeValue::Datetime(date) => Kind::Date(date.to_string()),
            DeValue::Array(values) => {
                Kind::List(values.into_iter().map(|value| self.node(value)).collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => self.table(table)?,
        };
        Ok(Node { key: None, place, kind })
    }

    fn table(&self, table: DeTable<'_>) -> Result<Kind, SceneError> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let mut node = self.node(value)?;
            node.key = Some(self.place(key.span()));
            entries.push((key.into_inner().into_owned(), node));
        }
        entries.sort_by_key(|(_, node)| node.key.as_ref().map_or(0, |key| key.span.start));
        Ok(Kind::Table(entries))
    }

    fn place(&self, span: Range<usize>) -> Place {
        Place { overridden_by: self.overridden_by, span: span.start + self.offset..span.end + self.offset }
    }

    fn too_large(&self, place: &Place) -> SceneError {
        self.source
            .error(place)
            .saying("this number is too large to represent", "write a number of ordinary size, in SI units")
    }
}
