//! Finds the groups of rows in a public list.

use std::collections::BTreeMap;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{
    DataType, Date32Type, Int64Type, TimeUnit, TimestampMicrosecondType,
};
use datafusion::common::{HashMap, Result};
use mizan_sql::Value;

use super::super::values::Values;
use super::small;

/// The largest table of combinations of key values, listed or not.
const MOST: usize = 1 << 22;

/// A list of groups, indexed by their keys.
#[derive(Clone, Debug)]
pub(super) struct PublicGroups {
    keys: Vec<KeyCodes>,
    /// The group of each combination of key values.
    groups: Vec<u32>,
    /// The group for all keys that are not listed.
    others: u32,
    codes: Vec<u32>,
}

impl PublicGroups {
    /// The groups, in order; None if the table of combinations would be too large.
    pub(super) fn new(keys: usize, groups: &[Vec<Value>]) -> Result<Option<Self>> {
        if groups.iter().any(|group| group.len() != keys) {
            return super::unexpected();
        }
        let others = small(groups.len())?;
        let mut codes_of_keys = vec![KeyCodes::default(); keys];
        for (key_codes, place) in codes_of_keys.iter_mut().zip(0..) {
            for value in groups.iter().filter_map(|group| group.get(place)) {
                key_codes.insert(value)?;
            }
        }
        let mut sizes = codes_of_keys.iter().map(KeyCodes::codes);
        let combinations = sizes.try_fold(1_usize, usize::checked_mul);
        let Some(combinations) = combinations.filter(|all| *all <= MOST) else {
            return Ok(None);
        };
        let mut table = vec![others; combinations];
        for (group, values) in groups.iter().enumerate() {
            let codes = codes_of_keys.iter().zip(values);
            let place = codes.fold(0, |place, (key_codes, value)| {
                place * key_codes.codes() + key_codes.code(value) as usize
            });
            let Some(to) = table.get_mut(place) else {
                return super::unexpected();
            };
            *to = small(group)?;
        }
        Ok(Some(Self {
            keys: codes_of_keys,
            groups: table,
            others,
            codes: Vec::new(),
        }))
    }

    /// The number of groups, plus one for all keys that are not listed.
    pub(super) fn len(&self) -> usize {
        self.others as usize + 1
    }

    /// Whether a group is listed.
    pub(super) const fn is_listed(&self, group: u32) -> bool {
        group < self.others
    }

    /// The groups of rows, by their keys.
    pub(super) fn find(
        &mut self,
        keys: &[ArrayRef],
        rows: usize,
        groups: &mut Vec<u32>,
    ) -> Result<()> {
        groups.clear();
        groups.resize(rows, 0);
        if keys.len() != self.keys.len() {
            return super::unexpected();
        }
        for (key_codes, array) in self.keys.iter().zip(keys) {
            key_codes.find(array, &mut self.codes)?;
            if self.codes.len() != rows {
                return super::unexpected();
            }
            let size = small(key_codes.codes())?;
            for (place, code) in groups.iter_mut().zip(&self.codes) {
                *place = *place * size + code;
            }
        }
        for place in groups {
            let Some(group) = self.groups.get(*place as usize) else {
                return super::unexpected();
            };
            *place = *group;
        }
        Ok(())
    }
}

/// The listed values of a key, with a code for each; zero is any other value.
#[derive(Clone, Debug, Default)]
struct KeyCodes {
    codes: BTreeMap<Value, u32>,
    short: ShortTexts,
    integers: HashMap<i64, u32>,
}

impl KeyCodes {
    fn insert(&mut self, value: &Value) -> Result<()> {
        let next = small(self.codes.len() + 1)?;
        let code = *self.codes.entry(value.clone()).or_insert(next);
        match value {
            Value::Text(text) if text.len() <= 12 => {
                let view = datafusion::arrow::array::make_view(text.as_bytes(), 0, 0);
                self.short.insert(view, code);
            }
            Value::Integer(integer) | Value::Timestamp(integer) => {
                self.integers.insert(*integer, code);
            }
            Value::Date(day) => {
                self.integers.insert((*day).into(), code);
            }
            _ => {}
        }
        Ok(())
    }

    fn codes(&self) -> usize {
        self.codes.len() + 1
    }

    fn code(&self, value: &Value) -> u32 {
        self.codes.get(value).copied().unwrap_or(0)
    }

    /// The codes of rows.
    fn find(&self, array: &ArrayRef, codes: &mut Vec<u32>) -> Result<()> {
        codes.clear();
        let integer = |integer: i64| self.integers.get(&integer).copied().unwrap_or(0);
        let whole = array.logical_null_count() == 0;
        match array.data_type() {
            DataType::Utf8View if whole => {
                let texts = array.as_string_view();
                let long = |row: usize| self.code(&Value::Text(texts.value(row).to_owned()));
                let views = texts.views().iter().enumerate();
                codes.extend(views.map(|(row, view)| match text_length(*view) {
                    0..=12 => self.short.code(*view),
                    _ => long(row),
                }));
            }
            DataType::Int64 if whole => {
                let values = array.as_primitive::<Int64Type>().values();
                codes.extend(values.iter().map(|value| integer(*value)));
            }
            DataType::Date32 if whole => {
                let values = array.as_primitive::<Date32Type>().values();
                codes.extend(values.iter().map(|value| integer((*value).into())));
            }
            DataType::Timestamp(TimeUnit::Microsecond, None) if whole => {
                let values = array.as_primitive::<TimestampMicrosecondType>().values();
                codes.extend(values.iter().map(|value| integer(*value)));
            }
            _ => {
                let values = Values::new(array)?;
                codes.extend((0..array.len()).map(|row| self.code(&values.get(row))));
            }
        }
        Ok(())
    }
}

/// Codes of texts of up to twelve bytes, by their views. While there are few, a perfect hash
/// table finds each with one comparison.
#[derive(Clone, Debug, Default)]
struct ShortTexts {
    codes: HashMap<u128, u32>,
    /// None if no perfect hash was found.
    places: Option<Box<[(u128, u32); PLACES]>>,
    multiplier: u64,
}

/// The size of the table, a power of two.
const PLACES: usize = 256;

/// For more texts a perfect hash may take long to find.
const FEW: usize = 16;

impl ShortTexts {
    fn insert(&mut self, view: u128, code: u32) {
        self.codes.insert(view, code);
        self.places = None;
        if self.codes.len() > FEW {
            return;
        }
        // Sixteen texts collide in a table of 256 in four of ten attempts.
        let mut multiplier = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..64 {
            if let Some(places) = self.placed(multiplier) {
                (self.places, self.multiplier) = (Some(places), multiplier);
                return;
            }
            multiplier = multiplier.wrapping_mul(0x5851_f42d_4c95_7f2d) | 1;
        }
    }

    /// The table, if texts do not collide. Empty entries have the view of the empty text and no
    /// code, which is correct for it unless it is listed.
    fn placed(&self, multiplier: u64) -> Option<Box<[(u128, u32); PLACES]>> {
        let mut places = Box::new([(0, 0); PLACES]);
        for (view, code) in &self.codes {
            let to = places.get_mut(place(*view, multiplier))?;
            if to.1 != 0 {
                return None;
            }
            *to = (*view, *code);
        }
        Some(places)
    }

    #[inline]
    fn code(&self, view: u128) -> u32 {
        match &self.places {
            Some(places) => match places.get(place(view, self.multiplier)) {
                Some((known, code)) if *known == view => *code,
                _ => 0,
            },
            None => self.codes.get(&view).copied().unwrap_or(0),
        }
    }
}

/// The position of a text in the table: the upper bits of a product with both halves.
#[inline]
#[allow(
    clippy::cast_possible_truncation,
    reason = "both halves, and eight bits"
)]
const fn place(view: u128, multiplier: u64) -> usize {
    let mixed = (view as u64) ^ ((view >> 64) as u64).rotate_left(29);
    (mixed.wrapping_mul(multiplier) >> (u64::BITS - PLACES.ilog2())) as usize
}

/// A view starts with the length of its text.
#[allow(clippy::cast_possible_truncation, reason = "the first four bytes")]
const fn text_length(view: u128) -> u32 {
    view as u32
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{Date32Array, Float64Array, Int64Array, StringViewArray};

    use super::*;

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn find(groups: &[Vec<Value>], keys: &[ArrayRef]) -> Vec<u32> {
        let mut listed = PublicGroups::new(keys.len(), groups).unwrap().unwrap();
        let mut found = Vec::new();
        let rows = keys.first().map_or(2, |key| key.len());
        listed.find(keys, rows, &mut found).unwrap();
        assert_eq!(listed.len(), groups.len() + 1);
        found
    }

    #[test]
    fn each_type_of_key_is_found() {
        let long = "a text of more than twelve bytes";
        let groups = [vec![text("b")], vec![text("")], vec![text(long)]];
        let texts = ["", "b", "c", long, "a text of more than twelve letters"];
        let keys: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
        assert_eq!(find(&groups, &[keys]), [1, 0, 3, 2, 3]);

        let groups = [vec![Value::Integer(i64::MIN)], vec![Value::Integer(0)]];
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![0, i64::MIN, 1]));
        assert_eq!(find(&groups, &[keys]), [1, 0, 2]);
        // NULL is not zero, and may be listed.
        let keys: ArrayRef = Arc::new(Int64Array::from(vec![Some(0), None, Some(1)]));
        assert_eq!(find(&groups, &[Arc::clone(&keys)]), [1, 2, 2]);
        let groups = [vec![Value::Null], vec![Value::Integer(0)]];
        assert_eq!(find(&groups, &[keys]), [1, 0, 2]);

        let groups = [vec![Value::Date(-1)], vec![Value::Date(7)]];
        let keys: ArrayRef = Arc::new(Date32Array::from(vec![7, 8, -1]));
        assert_eq!(find(&groups, &[keys]), [1, 2, 0]);

        let groups = [vec![Value::number(0.5)], vec![Value::number(0.0)]];
        let keys: ArrayRef = Arc::new(Float64Array::from(vec![-0.0, 0.5, f64::NAN]));
        assert_eq!(find(&groups, &[keys]), [1, 0, 2]);
    }

    #[test]
    fn only_listed_combinations_are_groups() {
        let groups = [
            vec![text("a"), Value::Integer(1)],
            vec![text("b"), Value::Integer(2)],
        ];
        let texts: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "a", "b", "b", "c"]));
        let integers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 1, 2, 1]));
        assert_eq!(find(&groups, &[texts, integers]), [0, 2, 2, 1, 2]);
        assert_eq!(find(&[vec![]], &[]), [0, 0]);
        assert_eq!(find(&[], &[]), [0, 0]);
        let many: Vec<Vec<Value>> = (0..3_000)
            .map(|value| vec![Value::Integer(value), Value::Integer(value)])
            .collect();
        assert!(PublicGroups::new(2, &many).unwrap().is_none());
    }

    /// Read otherwise, rows would be of another group or of none.
    #[test]
    fn groups_and_columns_have_all_keys() {
        let one = vec![text("a")];
        assert!(PublicGroups::new(2, std::slice::from_ref(&one)).is_err());
        let mut groups = PublicGroups::new(1, &[one]).unwrap().unwrap();
        let column: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "b"]));
        let mut found = Vec::new();
        let both = [Arc::clone(&column), Arc::clone(&column)];
        assert!(groups.find(&both, 2, &mut found).is_err());
        assert!(groups.find(&[], 2, &mut found).is_err());
        assert!(groups.find(&[Arc::clone(&column)], 3, &mut found).is_err());
        assert!(groups.find(&[column], 2, &mut found).is_ok());
    }

    #[test]
    fn short_texts_are_found_whether_few_or_many() {
        for many in [1, 2, 12, 16, 17, 300] {
            // Some texts are equal, and one is empty.
            let name = |number: usize| match number {
                0 => String::new(),
                _ => format!("w{number}"),
            };
            let groups: Vec<Vec<Value>> = (0..many).map(|g| vec![text(&name(g))]).collect();
            let texts: Vec<String> = (0..many).map(name).collect();
            let unknown = ["w", "W1", "w1 ", "w301"].map(str::to_owned);
            let all = texts.iter().chain(&unknown).map(|text| Some(text.as_str()));
            let keys: ArrayRef = Arc::new(all.collect::<StringViewArray>());
            let expected = (0..many + 4).map(|group| u32::try_from(group.min(many)).unwrap());
            assert_eq!(find(&groups, &[keys]), expected.collect::<Vec<u32>>());
        }
    }
}
