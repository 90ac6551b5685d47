//! `ci/container/Containerfile`: it is made from the output of `ci/release`, and runs as an account without rights.

use crate::text;

#[test]
fn the_image_is_made_of_what_a_release_has() {
    let containerfile = text("ci/container/Containerfile");
    let release = text("ci/release");
    let joined = containerfile.replace("\\\n", " ");
    let lines: Vec<&str> = joined.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert_eq!(lines[0], "FROM scratch", "there is no base whose digest would have to be pinned");
    assert!(lines.contains(&"USER 65532:65532") && text("ci/kubernetes/cronjob.yaml").contains("runAsUser: 65532"));
    let copied: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("COPY ")).collect();
    assert_eq!(copied.len(), 2);
    let words =
        copied.iter().flat_map(|line| line.split(' ')).filter(|word| !word.starts_with("--") && !word.starts_with('/'));
    let archive = release.lines().find(|line| line.starts_with("cp \"$built\" ")).expect("the archive's files");
    for word in words {
        assert!(word == "zonewright" || archive.contains(word), "{word} is not in the archive");
    }
    assert!(lines.iter().any(|line| line.starts_with("ENTRYPOINT [\"/usr/bin/zonewright\"]")));
}
