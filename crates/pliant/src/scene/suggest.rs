//! "Did you mean ...?"

/// Words compared before giving up: a scene may define any number of names.
const MOST_CANDIDATES: usize = 10_000;

/// The candidate nearest to `word`, if near enough that it may be meant.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > 64 {
        return None;
    }
    candidates
        .into_iter()
        .take(MOST_CANDIDATES)
        .filter(|candidate| candidate.len() <= 256)
        .map(|candidate| (edit_distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, candidate)| distance <= 1 + length.min(candidate.len()) / 3)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean "rubber"?`, or nothing.
pub(super) fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map_or_else(String::new, |near| format!("; did you mean \"{near}\"?"))
}

/// Characters to insert, delete, replace or swap with their neighbour to turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

/// A text on one line, its control characters escaped.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// A text as one short quoted line, for messages.
pub(super) fn quoted(text: &str) -> String {
    let mut characters = text.chars();
    let mut short: String = characters.by_ref().take(40).collect();
    if characters.next().is_some() {
        short.push_str("...");
    }
    format!("{short:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits_and_swaps() {
        for (a, b, distance) in
            [("", "", 0), ("abc", "", 3), ("ruber", "rubber", 1), ("bxo", "box", 1), ("plane", "sphere", 4)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn only_near_words_are_suggested() {
        let words = ["spacing", "support", "seed"];
        assert_eq!(nearest("Spaceing", words), Some("spacing"));
        assert_eq!(nearest("temperature", words), None);
    }
}
