import t from 'tap';
import { createFleet } from './fleet.ts';
import { type Listed, reach } from './picker.ts';
import { QUESTIONS } from './questions.ts';

const MOST_CALLS = 4;
const MOST_TOKENS = 15_000;

t.test('each question is answered within four calls and 15,000 tokens, by the descriptions alone', async (t) => {
  const { assistant, names } = await createFleet(t);
  const tools: Listed[] = await assistant.tools();
  t.ok(tools.length < 25, `${tools.length} tools`);
  const filled = (text: string): string => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => names.get(name) ?? '');
  for (const { question, facts, known = {} } of QUESTIONS) {
    const asked = filled(question);
    const wanted = facts.map(({ source }) => new RegExp(filled(source)));
    const { calls, tokens, text, found } = await reach({ assistant, tools }, asked, wanted, {
      known,
      most: MOST_CALLS,
    });
    const what = `${question} | ${calls.join(', ')} | ${tokens}`;
    t.ok(found, found ? what : `${what}\n${text}`);
    t.ok(tokens <= MOST_TOKENS, what);
    t.comment(`| ${question} | ${calls.length} | ${tokens} | ${calls.join(', ')} |`);
  }
});
