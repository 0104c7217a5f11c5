//! The message format between the program and its worker process: a header, then the value in
//! `postcard` encoding, which keeps every bit of integers and doubles.
//!
//! ```text
//! "mizan run-plan 1"   16 bytes
//! length               8 bytes, little endian
//! digest               SHA-256 of the version of the program and the value
//! value                length bytes
//! ```
//!
//! The digest is checked before the value is decoded, so a value that is truncated or written
//! by another version is refused. Whatever follows a value is not read.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 16] = b"mizan run-plan 1";

/// The error for a frame that cannot be read. Its content is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadFrame;

/// A value as a frame; None if it cannot be encoded.
pub(super) fn encode<T: Serialize>(value: &T) -> Option<Vec<u8>> {
    let body = postcard::to_allocvec(value).ok()?;
    let mut frame = MAGIC.to_vec();
    frame.extend((body.len() as u64).to_le_bytes());
    frame.extend(digest(&body));
    frame.extend(body);
    Some(frame)
}

/// Writes a frame.
pub(super) fn write(to: &mut impl Write, frame: &[u8]) -> io::Result<()> {
    to.write_all(frame)?;
    to.flush()
}

/// Reads one frame of at most `most` bytes. Whatever follows it is not read.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read, most: u64) -> Result<T, BadFrame> {
    let (mut magic, mut length, mut expected) = ([0; 16], [0; 8], [0; 32]);
    for part in [&mut magic[..], &mut length[..], &mut expected[..]] {
        from.read_exact(part).map_err(|_| BadFrame)?;
    }
    let length = u64::from_le_bytes(length);
    if &magic != MAGIC || length > most {
        return Err(BadFrame);
    }
    // Memory is allocated as bytes arrive, not by the claimed length.
    let mut body = Vec::new();
    let read = from.take(length).read_to_end(&mut body);
    let read = read.map_err(|_| BadFrame)?;
    if read as u64 != length || digest(&body) != expected {
        return Err(BadFrame);
    }
    match postcard::take_from_bytes(&body) {
        Ok((value, [])) => Ok(value),
        _ => Err(BadFrame),
    }
}

fn digest(body: &[u8]) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(env!("CARGO_PKG_VERSION"));
    digest.update([0]);
    digest.update(body);
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> Vec<u8> {
        encode(&(7_u64, "text".to_owned())).unwrap()
    }

    fn decode(bytes: &[u8]) -> Result<(u64, String), BadFrame> {
        read(&mut &*bytes, 1 << 20)
    }

    #[test]
    fn only_an_unchanged_frame_is_read() {
        let frame = frame();
        assert_eq!(decode(&frame), Ok((7, "text".to_owned())));
        for end in 0..frame.len() {
            assert_eq!(decode(&frame[..end]), Err(BadFrame), "{end}");
        }
        for place in 0..frame.len() {
            let mut other = frame.clone();
            other[place] ^= 0x40;
            assert_eq!(decode(&other), Err(BadFrame), "{place}");
        }
        // What follows is left for the next read.
        let two = [frame.as_slice(), &frame].concat();
        let mut from = two.as_slice();
        for _ in 0..2 {
            assert_eq!(read(&mut from, 1 << 20), Ok((7_u64, "text".to_owned())));
        }
        assert!(from.is_empty());
        assert_eq!(
            read::<(u64, String)>(&mut &frame[..], 3),
            Err(BadFrame),
            "longer than may be"
        );
    }

    #[test]
    fn numbers_keep_every_bit() {
        for bits in [0, 1, 1 << 63, 0x7ff0_0000_0000_0000, 0xfff0_0000_0000_0000] {
            let number = f64::from_bits(bits);
            let frame = encode(&number).unwrap();
            let read: f64 = read(&mut &frame[..], 100).unwrap();
            assert_eq!(read.to_bits(), bits);
        }
        for integer in [0, -1, i64::MIN, i64::MAX] {
            let frame = encode(&integer).unwrap();
            assert_eq!(read::<i64>(&mut &frame[..], 100), Ok(integer));
        }
    }
}
