// Checks that every regular expression that can meet a stranger's text reads each character once, so that a text costs what
// its length costs: it must not backtrack. A pattern without an anchor begins anew at each character, so a repetition in it
// is a fault, too. Patterns that only meet the project's own texts, or short ones, are listed here by file, with the reason.
import { isSafePattern } from 'redos-detector';
import { allPatterns, type Pattern } from './patterns.ts';

/** Files whose patterns only meet texts that no stranger writes, with these texts. */
const OWN_TEXTS: Record<string, string> = {
  'src/edge/mqtt/certificates.ts': 'the file of revoked certificates',
  'src/clients/cli/admin/admin-commands.ts': 'paths of its own table',
  'src/clients/cli/line/completion.ts': 'the script that it makes',
  'src/clients/cli/line/command-line.ts': 'what is typed at it',
  'src/clients/client/admin-request.ts': 'paths of its own table',
  'console/base/requests.ts': 'paths of its own table',
  'src/clients/client/transport.ts': 'the address of the service that it is given',
  'src/config.ts': 'settings',
  'src/runtime/database-hosts.ts': 'settings',
  'src/platform/database/postgres/migrations.ts': 'migrations of the service',
  'src/platform/database/postgres/sets.ts': 'statements of the service',
  'src/platform/database/postgres/statements.ts': 'statements of the service',
  'src/platform/database/sqlite/check-pieces.ts': 'statements of the service',
  'src/edge/pages/source-worker.ts': 'files of the pages',
  'src/edge/docs/html.ts': 'documents of the service',
  'src/errors.ts': 'sentences of its own table',
  'src/edge/http/router.ts': 'paths of the route tables',
};

/** Files that check the length of a text before they match it, with the longest length. */
const SHORT_TEXTS: Record<string, string> = {
  'src/platform/contracts/language-tag.ts': '255 characters',
  'src/core/software/version.ts': '255 characters',
};
const EXCEPTIONS = { ...OWN_TEXTS, ...SHORT_TEXTS };

/**
 * A pattern without repetitions reads each character once, and needs no check; the checker also lacks some notations of
 * classes.
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
