// Checks the regular expressions that are matched against texts of strangers: each must read every character once, so
// that the time grows only with the length of the text; it must not backtrack. A pattern without an anchor is tried
// again at each character, so a repetition in it is a fault, too. The files below are excepted, each with the reason.
import { isSafePattern } from 'redos-detector';
import { allPatterns, type Pattern } from './patterns.ts';

/** Files whose patterns are matched only against texts that no stranger has written, with these texts. */
const OWN_TEXTS: Record<string, string> = {
  'src/platform/entrance/revoked.ts': 'the file of revoked certificates',
  'cli/admin/admin-commands.ts': 'paths of its own table',
  'cli/line/completion.ts': 'the script that it makes',
  'cli/line/command-line.ts': 'what is typed at it',
  'client/fill-path.ts': 'paths of its own table',
  'console/base/requests.ts': 'paths of its own table',
  'client/transport.ts': 'the address of the service that it is given',
  'src/config.ts': 'settings',
  'src/runtime/legacy-settings.ts': 'settings',
  'src/runtime/database-hosts.ts': 'settings',
  'src/platform/database/upgrade-plan.ts': 'migrations of the service',
  'src/platform/database/postgres/sets.ts': 'statements of the service',
  'src/platform/database/postgres/statements.ts': 'statements of the service',
  'src/platform/database/sqlite/check-pieces.ts': 'statements of the service',
  'src/edge/docs/html.ts': 'documents of the service',
  'schemas/contracts/errors.ts': 'sentences of its own table',
  'src/edge/http/router.ts': 'paths of the route tables',
};

/** Files that refuse long texts before they match them, with the longest text that they match. */
const SHORT_TEXTS: Record<string, string> = {
  'schemas/contracts/language-tag.ts': '255 characters',
  'src/core/software/version.ts': '255 characters',
};
const EXCEPTIONS = { ...OWN_TEXTS, ...SHORT_TEXTS };

/**
 * Whether a pattern contains a repetition. Only such patterns are checked: the others read each character once, and the
 * checker does not know some notations of character classes.
 */
const repeats = ({ source }: Pattern): boolean => /[*+{]/.test(source.replaceAll(/\\p\{[\w=]+\}|\\./g, ''));

const isLinear = ({ source, flags }: Pattern): boolean =>
  isSafePattern(source, {
    caseInsensitive: flags.includes('i'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
    unicode: flags.includes('u') || flags.includes('v'),
  }).safe;

const patterns = await allPatterns();
const kept = new Set<string>();
let faults = 0;
for (const pattern of patterns.filter(repeats)) {
  if (isLinear(pattern)) continue;
  if (EXCEPTIONS[pattern.file] !== undefined) {
    kept.add(pattern.file);
    continue;
  }
  faults += 1;
  console.error(`${pattern.file}: /${pattern.source}/${pattern.flags} may look at a character more than once`);
}
for (const file of Object.keys(EXCEPTIONS).filter((name) => !kept.has(name))) {
  faults += 1;
  console.error(`${file} needs no exception`);
}
if (faults === 0) console.log(`${patterns.length} patterns look at each character once`);
process.exitCode = faults > 0 ? 1 : 0;
