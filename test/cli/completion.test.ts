import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { missing } from '../installed.ts';
import { run } from './run.ts';

const LINES = [
  ['', /^serve doctor migrate backup restore move owner audit clock docs demo login .*device.*completion$/],
  ['serve --http-p', /^--http-port$/],
  ['doctor --check', /^--check-database$/],
  ['dev', /^device$/],
  ['device b', /^bluetooth$/],
  ['device bluetooth ', /^state on off list pair$/],
  ['admin device im', /^import$/],
  ['admin device import --dev', /^--developer$/],
  ['admin device import --format ', /^ndjson csv$/],
  ['admin device import dev', /^devices\.csv$/],
  ['admin device import devices.csv --output dev', /^devices\.csv$/],
  ['device transactions --application device 12 --status f', /^failed$/],
  ['device list --ta', /^--tag$/],
  ['device tag', /^tag tags$/],
  ['webhook test c', /^callEvent callFileSendEvent$/],
  ['completion ', /^bash zsh fish$/],
  ['device show 35', /^350000000000014 350000000000022$/],
  ['device cancel 35', /^350000000000014 350000000000022$/],
  ['device show 1 --nothing ', /^$/],
] as const;

t.test('bash completes commands, options and their values', async (t) => {
  const folder = t.testdir({ 'devices.csv': '' });
  const { code, stdout } = await run(['completion', 'bash']);
  t.equal(code, 0);
  // Stands for the command, which the script calls for deviceIds.
  const script = `${stdout}
lapel() { [[ $* == 'device ids 35' ]] && printf '%s\\n' 350000000000014 350000000000022; }
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _lapel; echo "\${COMPREPLY[*]}"; }
${LINES.map(([line]) => `try lapel ${line.replace(/(^| )$/, "$1''")}`).join('\n')}\n`;
  writeFileSync(join(folder, 'try.bash'), script);
  const bash = spawnSync('bash', ['--norc', 'try.bash'], { cwd: folder, encoding: 'utf8' });
  t.same([bash.stderr, bash.status], ['', 0]);
  const answers = bash.stdout.split('\n');
  for (const [index, [line, words]] of LINES.entries()) t.match(answers[index], words, line);
});

t.test('zsh accepts its completion', { skip: missing.zsh() }, async (t) => {
  const { stdout } = await run(['completion', 'zsh']);
  t.same(spawnSync('zsh', ['-n'], { input: stdout, encoding: 'utf8' }).stderr, '');
});

t.test('fish completes the same', { skip: missing.fish() }, async (t) => {
  const folder = t.testdir({ 'devices.csv': '' });
  const { stdout } = await run(['completion', 'fish']);
  const tried = LINES.map(
    ([line]) => `complete -C 'lapel ${line}' | string replace -r '\t.*' '' | string join ' '; echo`,
  );
  const ids = `function lapel; test "$argv" = 'device ids 35'; and printf '%s\\n' 350000000000014 350000000000022; end`;
  writeFileSync(join(folder, 'try.fish'), `${stdout}\n${ids}\n${tried.join('\n')}\n`);
  const env = { ...process.env, HOME: folder };
  const fish = spawnSync('fish', ['--no-config', 'try.fish'], { cwd: folder, env, encoding: 'utf8' });
  t.same([fish.stderr, fish.status], ['', 0]);
  const sorted = (words: string): string[] => words.split(' ').sort();
  const bash = LINES.map(([, words]) => words.source.slice(1, -1).replaceAll('\\', ''));
  for (const [index, answer] of fish.stdout.split('\n\n').slice(1, LINES.length).entries())
    t.same(sorted(answer.trim()), sorted(bash[index + 1] ?? ''), LINES[index + 1]?.[0] ?? '');
});
