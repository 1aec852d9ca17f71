//! The rule identifiers (patch-verifier.md 7 and 8.9), each with the sentence that says what to ask the author for.

/// Which stage of the check a rule belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The patch file itself (4.1).
    PatchFile,
    /// The worktree (4.2).
    Workdir,
    /// git must not run anything that the repository names (8.1).
    Isolation,
    /// The line grammar (4.4).
    Grammar,
    /// Quoted names (8.3).
    Quoting,
    /// Header paths that must agree with each other (8.3).
    HeaderPaths,
    /// Hunks, modes and shapes (8.4).
    HunksAndShapes,
    /// How much there is (4.5).
    Counts,
    /// The strip level (4.6, 4.7).
    Strip,
    /// Where a path may lie (4.8).
    Paths,
    /// Names that a file system takes for another (8.6).
    Names,
    /// What may be done to a file, and how much (4.9).
    Operations,
    /// What lies in the worktree under a path (8.6).
    FileSystem,
    /// How git reads the patch (8.5).
    Reading,
    /// Whether git applies it (4.10).
    Apply,
    /// Where a hunk lands (8.7).
    Placement,
}

macro_rules! rules {
    ($($stage:ident { $($variant:ident $id:literal $ask:literal)* })*) => {
        /// One rule of the verifier. A policy class of denied paths is `DeniedPath` with the class's own id.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[doc = concat!("`", $id, "`: ", $ask)] $variant,)*)*
        }

        impl Rule {
            /// Every rule, in the order of the stages.
            pub const ALL: &'static [Rule] = &[$($(Rule::$variant,)*)*];

            /// The identifier in the receipt; the class of a denied path follows after a colon.
            pub fn id(self) -> &'static str {
                match self { $($(Rule::$variant => $id,)*)* }
            }

            /// What to ask the author of the patch for.
            pub fn ask(self) -> &'static str {
                match self { $($(Rule::$variant => $ask,)*)* }
            }

            /// The stage that the rule belongs to.
            pub fn stage(self) -> Stage {
                match self { $($(Rule::$variant => Stage::$stage,)*)* }
            }
        }
    };
}

rules! {
    PatchFile {
        PatchIsSymlink "patch_is_symlink" "Give the diff as a regular file, not as a link to one."
        PatchNotARegularFile "patch_not_a_regular_file" "Give the diff as a regular file."
        PatchFileGroupOrWorldWritable "patch_file_group_or_world_writable" "Take away the write permission of group and others, then check again."
        PatchFileNotOwnedByCaller "patch_file_not_owned_by_caller" "Store the diff in a file of your own."
        PatchFileEmpty "patch_file_empty" "Ask for a diff: the file has no bytes."
        PatchTooLarge "patch_too_large" "Ask for the change in several smaller diffs."
        PatchContainsNulBytes "patch_contains_nul_bytes" "Ask for a plain text diff without NUL bytes."
        PatchContainsCarriageReturns "patch_contains_carriage_returns" "Ask for the diff with LF line ends only."
    }
    Workdir {
        WorkdirIsSymlink "workdir_is_symlink" "Name the worktree by its own path, not by a link."
        WorkdirNotADirectory "workdir_not_a_directory" "Name the top directory of the worktree."
        GitControlIsASymlink "git_control_is_a_symlink" "Use a worktree whose .git is a directory or a file."
        WorkdirHasNoGitControl "workdir_has_no_git_control" "Name the top directory of a git worktree."
        WorkdirIsNotTheWorktreeToplevel "workdir_is_not_the_worktree_toplevel" "Name the directory that git calls the top level."
        WorkdirIsNotAGitWorktree "workdir_is_not_a_git_worktree" "Repair the repository until git can name its top level."
    }
    Isolation {
        GitIsolationFailed "git_isolation_failed" "Set TMPDIR to a writable directory outside the worktree, and use a git that lies outside it."
    }
    Grammar {
        UnexpectedLine "unexpected_line" "Ask for the diff alone, without prose, code fences or signature."
        MalformedDiffHeader "malformed_diff_header" "Ask for `diff --git` lines with exactly two names."
        MalformedIndexHeader "malformed_index_header" "Ask for `index` lines as git writes them, or for none."
        MalformedHunkHeader "malformed_hunk_header" "Ask for hunk headers of the form `@@ -N,N +N,N @@`."
        MalformedHunkLine "malformed_hunk_line" "Ask for hunk lines that start with a blank, a plus, a minus or a backslash."
        HunkLineCountOverrun "hunk_line_count_overrun" "Ask for hunks whose lines agree with the counts in their headers."
        TruncatedHunk "truncated_hunk" "Ask for the whole diff: a hunk ends before its counts are used up."
        NoHunks "no_hunks" "Ask for at least one hunk for each file."
        MissingFileHeaders "missing_file_headers" "Ask for a `---` and a `+++` line for each file."
        HeaderWithoutSource "header_without_source" "Ask for a `---` line before each `+++` line."
        HunkWithoutFileHeaders "hunk_without_file_headers" "Ask for a `---` and a `+++` line before the first hunk of each file."
        PathNotRepresentable "path_not_representable" "Ask for file names without blanks, control characters and quotes."
        BinaryPatch "binary_patch" "Ask for text changes only."
        SymlinkMode "symlink_mode" "Ask for the change without symbolic links."
        Submodule "submodule" "Ask for the change without submodules."
        ExecutableNewFile "executable_new_file" "Ask for new files with mode 100644; make them executable yourself if they should be."
        DeniedFileMode "denied_file_mode" "Ask for files with mode 100644."
        ModeChange "mode_change" "Ask for the change without mode changes."
        RenameNotPermitted "rename_not_permitted" "Ask for an edit in place instead of a rename."
        CopyNotPermitted "copy_not_permitted" "Ask for a new file instead of a copy."
    }
    Quoting {
        MalformedQuotedPath "malformed_quoted_path" "Ask for file names without quotes, or quoted exactly as git does."
        NulInQuotedPath "nul_in_quoted_path" "Ask for file names without NUL."
    }
    HeaderPaths {
        AbsoluteHeaderPath "absolute_header_path" "Ask for names relative to the top of the worktree."
        EpochTimestampHeader "epoch_timestamp_header" "Ask for header lines without dates, and for /dev/null where a side is missing."
        DiffHeaderPathMismatch "diff_header_path_mismatch" "Ask for a `diff --git` line with the same names as the `---` and `+++` lines."
        DuplicateFileSection "duplicate_file_section" "Ask for one section for each file, with all its hunks."
        PathBlocksPath "path_blocks_path" "Ask for the change without a name that is both a file and a directory."
    }
    HunksAndShapes {
        HunkCountMismatch "hunk_count_mismatch" "Ask for hunk headers whose counts are those of the lines."
        UnnumberedHunkHeader "unnumbered_hunk_header" "Ask for line numbers in every hunk header."
        CombinedDiff "combined_diff" "Ask for an ordinary diff against one parent."
        MissingFinalNewline "missing_final_newline" "Ask for the diff with a line end after its last line."
        SpecialModeBits "special_mode_bits" "Ask for modes without set-user-id, set-group-id and sticky bits."
        EmptyPreimage "empty_preimage" "Ask for /dev/null on the old side of a new file."
        EmptyPostimage "empty_postimage" "Ask for /dev/null on the new side of a deleted file."
        HunksOutOfOrder "hunks_out_of_order" "Ask for the hunks of each file in ascending order and without overlap."
    }
    Counts {
        PatchTooManyLines "patch_too_many_lines" "Ask for the change in several smaller diffs."
        NoFilesInPatch "no_files_in_patch" "Ask for a unified diff: no file section was found."
        TooManyFiles "too_many_files" "Ask for the change in several diffs with fewer files each."
    }
    Strip {
        UnpairedPathPrefixes "unpaired_path_prefixes" "Ask for `a/NAME` and `b/NAME`, or for the bare name on both sides."
        MixedPathPrefixes "mixed_path_prefixes" "Ask for prefixes on all names or on none."
        StripLevelUnderflow "strip_level_underflow" "Ask for names with at least one component after the prefix."
        PathPairMismatch "path_pair_mismatch" "Ask for the same name on both sides."
        DuplicatePath "duplicate_path" "Ask for one section for each file."
    }
    Paths {
        EmptyPath "empty_path" "Ask for a file name."
        PathTooLong "path_too_long" "Ask for shorter paths."
        AbsolutePath "absolute_path" "Ask for names relative to the top of the worktree."
        UncPath "unc_path" "Ask for names without leading slashes."
        DrivePath "drive_path" "Ask for names without a drive letter."
        BackslashPath "backslash_path" "Ask for forward slashes in names."
        ParentTraversal "parent_traversal" "Ask for names without `..`."
        DotComponent "dot_component" "Ask for names without `.` components."
        EmptyComponent "empty_component" "Ask for names without doubled or trailing slashes."
        PathCharset "path_charset" "Ask for names of ASCII letters, digits and the signs that the policy allows."
        DeniedPath "denied_path" "Ask for the change without this file; the policy says why the class is closed."
    }
    Names {
        GitControlDisguise "git_control_disguise" "Ask for names that no file system takes for .git."
        GitMetadataDisguise "git_metadata_disguise" "Ask for names that no file system takes for .gitmodules or .gitattributes."
        ReservedDeviceName "reserved_device_name" "Ask for names that are no device on any system."
        TrailingDotComponent "trailing_dot_component" "Ask for names that do not end in a dot or a blank."
    }
    Operations {
        RemovedLinesInNewFile "removed_lines_in_new_file" "Ask for a new file with added lines only."
        AddedLinesInDeletedFile "added_lines_in_deleted_file" "Ask for a deletion with removed lines only."
        DeleteNotPermitted "delete_not_permitted" "Ask for the change without deletions, or allow them with --allow-delete."
        UnknownOperation "unknown_operation" "Ask for plain additions and edits."
        FileExpansionExceeded "file_expansion_exceeded" "Ask for fewer added lines in this file."
        TooManyHunksInFile "too_many_hunks_in_file" "Ask for fewer and larger hunks in this file."
        TotalExpansionExceeded "total_expansion_exceeded" "Ask for the change in several diffs with fewer added lines each."
        TooManyHunks "too_many_hunks" "Ask for the change in several diffs with fewer hunks each."
    }
    FileSystem {
        SymlinkComponent "symlink_component" "Ask for the real path of the file: a directory on this path is a link."
        SymlinkLeaf "symlink_leaf" "Ask for a change of the file itself: this name is a link."
        ComponentNotADirectory "component_not_a_directory" "Ask for a path through directories: a part of this one is a file."
        TargetNotARegularFile "target_not_a_regular_file" "Ask for a change of a regular file: this name is something else."
        PathEntersNestedRepository "path_enters_nested_repository" "Ask for a separate diff against the nested repository."
    }
    Reading {
        GitReadsItDifferently "git_reads_it_differently" "Ask for the diff exactly as `git diff` writes it."
    }
    Apply {
        PatchDoesNotApply "patch_does_not_apply" "Ask for the diff against the present files; the receipt says which line does not match."
        AmbiguousStripLevel "ambiguous_strip_level" "Ask for a/ and b/ prefixes on all names."
    }
    Placement {
        AmbiguousHunkPlacement "ambiguous_hunk_placement" "Ask for right line numbers or for more context lines in this hunk."
        MissingNoNewlineMarker "missing_no_newline_marker" "Ask for `\\ No newline at end of file` after the last old line of this file."
        TargetHasCarriageReturns "target_has_carriage_returns" "Convert the file to LF line ends first, or edit it by hand: a diff without carriage returns can not match it."
    }
}
