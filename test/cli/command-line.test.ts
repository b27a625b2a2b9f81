import t from 'tap';
import { namePositionals, optionsHelp, readArguments, readSeconds, readUrl } from '../../src/cli/command-line.ts';
import { UsageError } from '../../src/cli/usage-error.ts';

const OPTIONS = {
  secret: { value: 'S', text: 'a secret' },
  install: { value: 'DEVICE', many: true, text: 'where' },
  latest: { text: 'a flag' },
};
/** What a UsageError names. */
function faultOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof UsageError) return error.option;
    throw error;
  }
  return 'nothing';
}
const NUMBER = /^\d+$/;

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
  const given = readArguments(args, OPTIONS, NUMBER);
  t.same(given.list('install'), ['1', '2', '3']);
  t.same(given.positionals, ['a', 'b', '4']);
  t.equal(given.flag('latest'), true);
  t.equal(given.flag('json'), false);
});

t.test('faults name what is wrong', async (t) => {
  t.equal(
    faultOf(() => readArguments(['--latst'], OPTIONS)),
    '--latst',
  );
  t.equal(
    faultOf(() => readArguments(['--latest=1'], OPTIONS)),
    '--latest',
  );
  t.throws(() => namePositionals([], ['FILE']), new UsageError('FILE', 'is needed'));
  t.equal(
    faultOf(() => namePositionals(['a', 'b'], ['FILE'])),
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

t.test('the help has a line for every option', async (t) => {
  const lines = optionsHelp(OPTIONS).split('\n');
  t.match(lines, [
    /^ {2}--secret S +a secret$/,
    /^ {2}--install DEVICE /,
    /^ {2}--latest /,
    /--json/,
    /-h, --help/,
    '',
  ]);
});
