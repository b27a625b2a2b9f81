// SemVer 2.0.0, clause 2 (core), 9 (pre-release), 10 (build metadata).
const NUMBER = '(0|[1-9][0-9]*)';
const IDENTIFIER = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)';
const BUILD = '(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?';
const SEMVER = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?${BUILD}$`);

/** The most characters of a text that is read as SemVer. The schemas permit at most as many for a version. */
const LONGEST = 255;

// This character is lower than any in an identifier, so that `alpha` comes before `alpha-` and `alpha1`.
const END = '!';

/**
 * A sort key for the versions of a package: ASCII text that is compared byte by byte; a greater text is a newer version.
 * Versions of equal precedence have equal keys, and are then compared by their own texts.
 *
 * SemVer versions compare by precedence (SemVer 2.0.0, clause 11; build metadata does not count). All other texts are older
 * than any SemVer version, so that a typing error never becomes the newest version. They are compared by their runs of
 * digits (as numbers) and of letters (as text): a number is newer than letters, more runs are newer than fewer.
 */
export function versionSortKey(version: string): string {
  const match = version.length <= LONGEST && SEMVER.exec(version);
  if (!match) return `0${otherKey(version)}`;
  const [, major = '', minor = '', patch = '', preRelease] = match;
  const core = `1${numberKey(major)}${numberKey(minor)}${numberKey(patch)}`;
  // A version without a pre-release part is newer than one with it (clause 11.3).
  return preRelease === undefined ? `${core}~` : `${core}-${preRelease.split('.').map(identifierKey).join('')}`;
}

/** Numeric identifiers are older than alphanumeric ones (clause 11.4.3). */
const identifierKey = (identifier: string): string =>
  /^[0-9]+$/.test(identifier) ? `0${numberKey(identifier)}` : `1${identifier}${END}`;

function otherKey(version: string): string {
  const runs = version.match(/[0-9]+|[A-Za-z]+/g) ?? [];
  return runs
    .map((run) => (/^[0-9]/.test(run) ? `1${numberKey(run.replace(/^0+(?=.)/, ''))}` : `0${run}${END}`))
    .join('');
}

/**
 * The key of a decimal number of any length, without leading zeros. To make longer numbers greater, the key begins with
 * the length of the number: a letter for the number of digits of the length, the length itself, then the number's
 * digits.
 */
function numberKey(digits: string): string {
  const length = String(digits.length);
  return `${String.fromCharCode(96 + length.length)}${length}${digits}`;
}
