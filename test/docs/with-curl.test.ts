import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { missing } from '../installed.ts';
import { freshCheckout } from '../terminal.ts';
import { reasonOf, shellBlocksOf } from './blocks.ts';

const PAGE = 'docs/with-curl.md';
const TEXT = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');
const [SHOWN = ''] = /^\S+ {2}transaction\.succeeded .*$/m.exec(TEXT) ?? [];
const skip = missing.curl();

t.test('the path by hand ends in a verified webhook, and the command line goes on from there', { skip }, async (t) => {
  const { here, open, stays } = await freshCheckout(t);
  const blocks = shellBlocksOf(PAGE).filter((block) => reasonOf(block) === undefined);
  const mine = open();
  mine.write('shopt -s expand_aliases\n');
  const words = SHOWN.replace(/^\S+/, '').trim();
  t.ok(words.length > 0, 'the page shows what the receiver shows');
  let receiver: ReturnType<typeof stays> | undefined;
  for (const [index, { text }] of blocks.entries()) {
    const block = here(text);
    if (block.includes('npm run serve')) await stays(block).says('"msg":"listening"');
    else if (block.includes('npm run sim')) stays(block);
    else if (block.includes('webhook listen')) {
      receiver = stays(block);
      await receiver.says('listening at');
    } else {
      mine.write(`${block}echo done ${index}\n`);
      await mine.says(`done ${index}\n`);
      if (block.includes('/devices/490154203237518')) await receiver?.says(words);
    }
  }
  t.match(await receiver?.says(words), /^\d\d:\d\d:\d\d\.\d{3} {2}transaction\.succeeded/m);
  const said = await mine.says(/transaction\.succeeded +delivered/);
  t.match(said, /"transactionId":1\b/);
  t.match(said, /Logged in to .* as patrol/);
  t.match(said, /setLanguage/);
});
