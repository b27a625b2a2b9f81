import { startFiguresPage } from '@lapel/device-sim/report/figures-page';
import t from 'tap';
import { recordOf } from './record-of.ts';

const LISTEN = { host: '127.0.0.1', port: 0 };

t.test('the figures of a run are metrics of Prometheus while it goes on', async (t) => {
  await using page = await startFiguresPage(LISTEN);
  t.equal(await (await fetch(page.url)).text(), '', 'the run has not begun');
  const { chapters } = recordOf();
  const lost = { text: 'lost == 0', phase: null };
  page.show({ chapters: () => chapters, standing: () => [{ expectation: lost, holds: false }] });
  const answer = await fetch(page.url);
  t.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/);
  const text = await answer.text();
  t.match(text, /^lapelsim_figure\{figure="accepted",phase="run"\} 7200$/m);
  t.match(text, /^lapelsim_figure\{figure="connected",phase="\w+"\} \d+$/m);
  t.match(text, /^lapelsim_latency_seconds\{stage="settled",percent="99",phase="run"\} \d/m);
  t.match(text, /^lapelsim_expectation_holds\{expectation="lost == 0",phase="run"\} 0$/m);
});

t.test('figures that cannot be made are answered 500, and the run goes on', async (t) => {
  await using page = await startFiguresPage(LISTEN);
  page.show({
    chapters() {
      throw new Error('no chapters');
    },
    standing: () => [],
  });
  const answer = await fetch(page.url);
  t.equal(answer.status, 500);
  t.equal(await answer.text(), 'Error: no chapters');
});

t.test('another path is answered 404, and an address that is taken is a wrong option', async (t) => {
  await using page = await startFiguresPage(LISTEN);
  t.equal((await fetch(new URL('/other', page.url))).status, 404);
  const port = Number(new URL(page.url).port);
  await t.rejects(startFiguresPage({ ...LISTEN, port }), { message: /^--figures: .*EADDRINUSE/ });
});
