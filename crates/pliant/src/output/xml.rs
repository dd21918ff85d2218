//! Just enough XML for the headers of VTK files: tags with attributes, comments and text, in order.

pub(super) enum Item<'a> {
    /// `<name key="value">` or `<name ... />`.
    Open {
        name: &'a str,
        attributes: Vec<(&'a str, String)>,
    },
    /// `</name>`; an [`Item::Open`] that closes itself has none.
    Close,
    Comment(&'a str),
    /// What stands between two tags and is not only space.
    Text(&'a str),
}

/// Splits the text at its tags.
pub(super) fn items(mut text: &str) -> Result<Vec<Item<'_>>, String> {
    let mut found = Vec::new();
    while let Some(start) = text.find('<') {
        if !text[..start].trim_ascii().is_empty() {
            found.push(Item::Text(&text[..start]));
        }
        text = &text[start..];
        if let Some(comment) = text.strip_prefix("<!--") {
            let (inside, rest) = comment.split_once("-->").ok_or("a comment does not end")?;
            found.push(Item::Comment(inside));
            text = rest;
        } else if text.starts_with("<?") {
            text = text.split_once("?>").ok_or("the XML declaration does not end")?.1;
        } else if let Some(close) = text.strip_prefix("</") {
            text = close.split_once('>').ok_or("a closing tag does not end")?.1;
            found.push(Item::Close);
        } else {
            let (item, rest) = open_tag(&text[1..])?;
            found.push(item);
            text = rest;
        }
    }
    Ok(found)
}

/// Parses what follows the `<` of an opening tag.
fn open_tag(text: &str) -> Result<(Item<'_>, &str), String> {
    let is_end = |c: char| c.is_ascii_whitespace() || c == '>' || c == '/';
    let (name, mut rest) = text.split_at(text.find(is_end).ok_or("a tag does not end")?);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>").or_else(|| rest.strip_prefix('>')) {
            return Ok((Item::Open { name, attributes }, after));
        }
        let broken = || format!("the tag <{}> is broken", name.chars().take(40).collect::<String>());
        let (key, value) = rest.split_once('=').ok_or_else(broken)?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\'')).ok_or_else(broken)?;
        let (value, after) = value[1..].split_once(quote).ok_or_else(broken)?;
        attributes.push((key.trim_end(), unescaped(value)));
        rest = after;
    }
}

pub(super) fn attribute<'a>(attributes: &'a [(&str, String)], key: &str) -> Option<&'a str> {
    attributes.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
}

/// Text as an attribute value. XML has no way to write control characters: they become `_`.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.push('_'),
            c if c.is_control() => out.push('_'),
            c => out.push(c),
        }
    }
    out
}

fn unescaped(text: &str) -> String {
    let entities = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")];
    entities.iter().fold(text.to_string(), |text, (entity, plain)| text.replace(entity, plain))
}
