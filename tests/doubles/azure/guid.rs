//! Identifiers that look like random ones and are the same in each run.

/// Makes the GUID of a number below 2^48. Two numbers never have the same one: the last group alone differs, because
/// its factor is odd.
pub fn guid(number: u64) -> String {
    let mixed = mix(number);
    let last = number.wrapping_mul(0x5851_f42d_4c95_7f2d) & 0xffff_ffff_ffff;
    let (first, second, third) = (mixed >> 32, (mixed >> 16) & 0xffff, mixed & 0xfff);
    format!("{first:08x}-{second:04x}-4{third:03x}-{:04x}-{last:012x}", 0x8000 | (mixed >> 20) & 0x3fff)
}

/// Spreads a number over all bits. Source: the last steps of splitmix64.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
