import { optionsHelp } from '@lapel/cli/line/command';
import { checkPositionals, readArguments, readSeconds, readUrl } from '@lapel/cli/line/command-line';
import { nearest } from '@lapel/cli/line/nearest';
import { UsageError } from '@lapel/cli/line/usage-error';
import t from 'tap';

const OPTIONS = {
  secret: { value: 'S', text: 'a secret' },
  install: { value: 'DEVICE', many: true, greedy: /^\d+$/, text: 'where' },
  status: { value: 'S', choices: ['queued', 'failed'], text: 'which' },
  latest: { text: 'a flag' },
};
/** The option and message of a UsageError. */
function faultOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof UsageError) return error.option;
    throw error;
  }
  return 'nothing';
}

t.test('a secret may begin with a hyphen', async (t) => {
  for (const secret of ['-a', '--b', '-', '--secrets', 'c=d']) {
    t.equal(readArguments(['--secret', secret], OPTIONS).text('secret'), secret);
    t.equal(readArguments([`--secret=${secret}`], OPTIONS).text('secret'), secret);
  }
});

t.test('an option is never taken for the value of the one before', async (t) => {
  for (const next of ['--json', '--latest', '--install=1', '-h']) {
    t.equal(
      faultOf(() => readArguments(['--secret', next], OPTIONS)),
      '--secret',
    );
  }
  t.equal(
    faultOf(() => readArguments(['--secret'], OPTIONS)),
    '--secret',
  );
  t.equal(
    faultOf(() => readArguments(['--secret', ''], OPTIONS).text('secret')),
    '--secret',
  );
});

t.test('an option that may be given again takes the values that follow it, and no others', async (t) => {
  const args = ['a', '--install', '1', '2', 'b', '--install', '3', '--latest', '4'];
  const given = readArguments(args, OPTIONS);
  t.same(given.list('install'), ['1', '2', '3']);
  t.same(given.positionals, ['a', 'b', '4']);
  t.equal(given.flag('latest'), true);
  t.equal(given.flag('json'), false);
});

t.test('faults name the wrong option', async (t) => {
  t.equal(
    faultOf(() => readArguments(['--latst'], OPTIONS)),
    '--latst',
  );
  t.equal(
    faultOf(() => readArguments(['--latest=1'], OPTIONS)),
    '--latest',
  );
  t.throws(() => checkPositionals([], [{ name: 'FILE' }]), new UsageError('FILE', 'is needed'));
  t.equal(
    faultOf(() => checkPositionals(['a', 'b'], [{ name: 'FILE' }])),
    'b',
  );
  t.equal(
    faultOf(() => readUrl('url', 'http://a?b')),
    '--url',
  );
  t.equal(
    faultOf(() => readUrl('url', '127.0.0.1:8080')),
    '--url',
  );
  t.equal(
    faultOf(() => readSeconds('timeout', '-1')),
    '--timeout',
  );
  t.equal(readUrl('url', 'https://a.example/below/'), 'https://a.example/below');
});

t.test('a wrong word gets a suggestion', async (t) => {
  t.throws(() => readArguments(['--latst'], OPTIONS), {
    message: '--latst: is not an option of this command; did you mean --latest?',
  });
  t.throws(() => readArguments(['--status', 'fialed'], OPTIONS).text('status'), {
    message: '--status: "fialed" is not one of queued, failed; did you mean failed?',
  });
  t.throws(() => checkPositionals([], [{ name: 'SHELL', choices: ['bash', 'zsh'] }]), {
    message: 'SHELL: is needed: bash, zsh',
  });
  const words = ['list', 'activate', 'deactivate', 'transactions', 'app'];
  t.same(
    ['lits', 'lst', 'activte', 'act', 'trans', 'xyzzy', 'ap'].map((word) => nearest(word, words)),
    ['list', 'list', 'activate', 'activate', 'transactions', undefined, 'app'],
  );
});

t.test('words after -- are taken literally', async (t) => {
  const given = readArguments(['--secret', '-s', '--', '--secret', '-x'], OPTIONS);
  t.same([given.text('secret'), given.positionals], ['-s', ['--secret', '-x']]);
});

t.test('the help has a line for every option', async (t) => {
  const lines = optionsHelp(OPTIONS).split('\n');
  t.match(lines, [
    /^ {2}--secret S +a secret$/,
    /^ {2}--install DEVICE /,
    /^ {2}--status S +which \(queued, failed\)$/,
    /^ {2}--latest /,
    /--json/,
    /-h, --help/,
    '',
  ]);
});
