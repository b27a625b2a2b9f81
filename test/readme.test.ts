import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { reasonOf, shellBlocksOf } from './docs/blocks.ts';
import { freshCheckout } from './terminal.ts';

const README = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');
const [SHOWN = ''] = /^\S+ {2}transaction\.succeeded .*$/m.exec(README) ?? [];

t.test('the path by hand ends in a verified webhook, and the first commands continue from there', async (t) => {
  const { here, open, stays } = await freshCheckout(t);
  const blocks = shellBlocksOf('README.md').filter((block) => reasonOf(block) === undefined);
  const mine = open();
  mine.write('shopt -s expand_aliases\n');
  const words = SHOWN.replace(/^\S+/, '').trim();
  t.ok(words.length > 0, 'the README shows what the receiver shows');
  let receiver: ReturnType<typeof stays> | undefined;
  for (const [index, { text }] of blocks.entries()) {
    const block = here(text);
    if (block.includes('npm run serve')) await stays(block).says('"msg":"listening"');
    else if (block.includes('npm run sim')) stays(block);
    else if (block.includes('webhook listen')) {
      receiver = stays(block);
      await receiver.says('listening at');
    } else {
      if (block.includes('lapel login')) {
        await receiver?.says(words); // waits for it, as a person would
        // A person would get a prompt, and paste the secret.
        mine.write('export LAPEL_APPLICATION_SECRET=$SECRET\n');
      }
      mine.write(`${block}echo done ${index}\n`);
      await mine.says(`done ${index}\n`);
    }
  }
  t.match(await receiver?.says(words), /^\d\d:\d\d:\d\d\.\d{3} {2}transaction\.succeeded/m);
  const said = await mine.says(/transaction\.succeeded +delivered/);
  t.match(said, /"transactionId":1\b/);
  t.match(said, /Logged in to .* as patrol/);
  t.match(said, /setLanguage/);
});
