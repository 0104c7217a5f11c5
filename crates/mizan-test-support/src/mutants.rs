//! Mutations of files, reproducible by seed: bits, bytes, lengths, parts of other files.

use mizan_core::SplitMix64;

/// A mutation of one of the files. Half of the changes of Parquet files are in the footer,
/// which holds all their numbers.
#[must_use]
pub fn mutant(numbers: &mut SplitMix64, files: &[Vec<u8>], place: usize) -> Vec<u8> {
    let mut bytes = files[place].clone();
    for _ in 0..=numbers.place(3) {
        change(numbers, &mut bytes, files);
    }
    bytes
}

fn change(numbers: &mut SplitMix64, bytes: &mut Vec<u8>, files: &[Vec<u8>]) {
    const ENDS: [&[u8]; 9] = [
        &[0],
        &[0x7f],
        &[0xff],
        &[0x80],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
        &[0xff, 0xff, 0xff, 0x7f],
        &[0x80, 0x80, 0x80, 0x80, 0x10],
        &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        &[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07],
    ];
    if bytes.is_empty() {
        bytes.extend(b"PAR1");
    }
    let length = bytes.len();
    let at = match footer(bytes) {
        Some(start) if numbers.place(2) == 0 => start + numbers.place(length - start),
        _ => numbers.place(length),
    };
    let some = 1 + numbers.place(16);
    match numbers.place(12) {
        0..=3 => bytes[at] ^= 1 << numbers.place(8),
        4 => bytes[at] = u8::try_from(numbers.place(256)).unwrap(),
        5 | 6 => {
            let end = ENDS[numbers.place(ENDS.len())];
            let last = (at + end.len()).min(length);
            bytes[at..last].copy_from_slice(&end[..last - at]);
        }
        7 => {
            let new: Vec<u8> = (0..some)
                .map(|_| numbers.place(256).try_into().unwrap())
                .collect();
            bytes.splice(at..at, new);
        }
        8 => drop(bytes.drain(at..(at + some).min(length))),
        9 => {
            let other = &files[numbers.place(files.len())];
            let from = numbers.place(other.len());
            let part = &other[from..(from + numbers.place(200)).min(other.len())];
            let last = (at + part.len()).min(length);
            bytes.splice(at..last, part.iter().copied());
        }
        10 => bytes.truncate(at),
        // The length of the footer, and the magic number after it.
        _ => {
            let tail = length.saturating_sub(8);
            let place = tail + numbers.place(length - tail);
            bytes[place] ^= 1 << numbers.place(8);
        }
    }
}

/// The start of the footer of a Parquet file.
fn footer(bytes: &[u8]) -> Option<usize> {
    let end = bytes.len().checked_sub(8)?;
    if &bytes[end + 4..] != b"PAR1" {
        return None;
    }
    let size = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    end.checked_sub(size.try_into().unwrap())
}

/// CSV texts that are difficult to parse.
#[must_use]
pub fn csv_files(secret: &str) -> Vec<Vec<u8>> {
    let long = "y".repeat(300_000);
    let texts = [
        format!("u,x\n1,{secret}\n2,b\n3,\"{secret}\nmore\"\n"),
        format!("u,x\r\n1,{secret}\r\n2,\"a\"\"b\"\r\n3,\r\n"),
        format!("\u{feff}u,x\n1,{secret}\r2,b\n\n\n4\n5,6,7,8\n"),
        format!("u,x\n1,\u{0}{secret}\u{0}\n2,{long}\n3,\"{long}\n"),
    ];
    let mut files: Vec<Vec<u8>> = texts.map(String::into_bytes).to_vec();
    files.push(
        [
            b"u,x\n1,\xff\xfe".as_slice(),
            secret.as_bytes(),
            b"\n2,\xc3\n",
        ]
        .concat(),
    );
    files
}
