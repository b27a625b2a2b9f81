// Holds every regular expression that can meet a text of strangers against the rule that a text costs what its length costs: none
// may go back over what it has read. A pattern without an anchor begins anew at each character, so a repetition in it is a
// fault, too. Those that meet nobody else's text, or short ones only, are listed here, each file with its reason.
import { isSafePattern } from 'redos-detector';
import { allPatterns, type Pattern } from './patterns.ts';

/** Texts that no stranger writes. */
const OWN_TEXTS: Record<string, string> = {
  'src/broker/certificates.ts': 'the file of revoked certificates',
  'src/cli/admin/admin-commands.ts': 'paths of its own table',
  'src/cli/line/completion.ts': 'the script that it makes',
  'src/cli/line/command-line.ts': 'what is typed at it',
  'src/client/lapel-client.ts': 'paths of its own table',
  'src/client/transport.ts': 'the address of the service that it is given',
  'src/config.ts': 'settings',
  'src/database-hosts.ts': 'settings',
  'src/database/postgres/migrations.ts': 'migrations of the service',
  'src/database/postgres/sets.ts': 'statements of the service',
  'src/database/postgres/statements.ts': 'statements of the service',
  'src/database/sqlite/check-pieces.ts': 'statements of the service',
  'src/console/source-worker.ts': 'files of the pages',
  'src/docs/html.ts': 'documents of the service',
  'src/errors.ts': 'sentences of its own table',
  'src/http/router.ts': 'paths of the route tables',
};

/** What checks the length before it looks. */
const SHORT_TEXTS: Record<string, string> = {
  'src/contracts/language-tag.ts': '255 characters',
  'src/software/version.ts': '255 characters',
};
const EXCEPTIONS = { ...OWN_TEXTS, ...SHORT_TEXTS };

/** What repeats nothing looks at each character once; the checker does not know all notations of classes. */
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
