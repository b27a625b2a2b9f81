import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closingTable } from '@lapel/device-sim/report/closing';
import { junitReport } from '@lapel/device-sim/report/junit';
import { liveLine, liveLines, type Standing } from '@lapel/device-sim/report/live';
import { reportPage } from '@lapel/device-sim/report/page';
import type { Chapter } from '@lapel/device-sim/report/record';
import { thinned } from '@lapel/device-sim/report/samples';
import { countScale, latencyScale, timeScale } from '@lapel/device-sim/report/scales';
import { isBrokenPromise } from '@lapel/device-sim/report/summary';
import { writeReport } from '@lapel/device-sim/report/write-report';
import t from 'tap';
import { figuresOf, recordOf } from './record-of.ts';

const hostile = '<script>alert("x")</script>';

t.test('the page is one file: no script, nothing from elsewhere, and text never becomes HTML', async (t) => {
  const page = reportPage(recordOf({ about: hostile, troubles: [hostile] }));
  t.notMatch(page, /<script|<link|<img|@import|url\(/i);
  t.notMatch(page.replaceAll('http://127.0.0.1:8080', ''), /https?:\/\//);
  t.match(page, '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
});

t.test('the page shows failed expectations first, with their story, and then the others', async (t) => {
  const page = reportPage(recordOf());
  t.match(page, '1 of 4 expectations do not hold');
  t.ok(page.indexOf('<code>lost == 0') < page.indexOf('<code>doubled == 0'));
  t.match(page, '2:12.125  customer  has no result after 60 s; the service says: succeeded');
  t.match(page, '<span class="value">98.2 %</span>');
  t.match(reportPage(recordOf({ verdicts: [] })), 'No expectations');
  t.match(reportPage(recordOf({ verdicts: [], interrupted: true })), 'Ended early');
});

t.test('the page shows latency, connected devices, distribution, states, codes, faults and phases', async (t) => {
  const page = reportPage(recordOf());
  for (const title of [
    'Latency over time',
    'Connected devices',
    'Distribution of latency',
    'Transactions by state',
    'Results by code',
    'Faults played',
    'Phases',
  ])
    t.match(page, new RegExp(`>${title}<`), title);
  t.match(page, /VERSION_NAME_MISMATCH.*1804/);
  t.match(page, /refused with 429.*8/);
  t.match(page, /Checks that have looked.*2 of 3/);
});

t.test('a run without a customer, and a very short one, have a page and a table as well', async (t) => {
  const chapters: Chapter[] = [{ name: 'run', spans: [{ from: 0, to: 0 }], figures: null, fleet: { devices: 3 } }];
  const record = recordOf({ chapters, samples: [], verdicts: [], faults: {}, milliseconds: 0 });
  t.notMatch(reportPage(record), /Latency over time|NaN|undefined|Infinity/);
  t.notMatch(closingTable(record), /NaN|undefined|Infinity/);
});

t.test('the page, the table and JUnit show each rollout, and its label as plain text', async (t) => {
  const sentence =
    'paused (ABORT_RULE) in stage 1 of 3; 2000 devices: 1960 waiting, 2 unfinished, 26 succeeded, 12 failed; ';
  const more = `${sentence}spared: 1958; commands published although it stood still: 1`;
  const table = closingTable(recordOf());
  t.ok(table.includes(`Rollout      Camera <b>2.0.0</b>\\u{1b}[31m: ${more}`), table);
  const page = reportPage(recordOf());
  t.ok(
    page.includes(
      '<th scope="row">Camera &lt;b&gt;2.0.0&lt;/b&gt;\\u{1b}[31m</th><td>bad</td><td>paused (ABORT_RULE)</td>',
    ),
  );
  t.ok(
    junitReport(recordOf()).includes(`<system-out>Camera &lt;b&gt;2.0.0&lt;/b&gt;\\u{1b}[31m: ${more}</system-out>`),
  );
  for (const shown of [closingTable, reportPage, junitReport])
    t.notMatch(shown(recordOf({ rollouts: [] })), /Rollouts?<|Rollout |system-out/);
});

t.test('every coordinate of a plot is a number', async (t) => {
  t.notMatch(reportPage(recordOf()), /NaN|undefined|Infinity/);
  t.notMatch(reportPage(recordOf({}, 1)), /NaN|undefined|Infinity/);
});

t.test('JUnit has a test for each expectation, and a failure with the story if it does not hold', async (t) => {
  const text = junitReport(recordOf());
  t.match(
    text,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites tests="4" failures="1" errors="0" time="180\.000">/,
  );
  t.match(text, '<testcase classname="bad-release" name="p99(delivered) &lt; 2 s" time="0"/>');
  t.match(text, 'name="failed(VERSION_NAME_MISMATCH) &gt;= 90 % (bad)"');
  t.match(text, /<failure message="found 1">expected lost == 0, found 1\n1:12\.031 {2}customer .*\n/);
  const [verdict] = recordOf().verdicts;
  const strange = { ...verdict!, holds: false, story: ['a\u0000b\u001b[31m'] };
  t.notMatch(junitReport(recordOf({ verdicts: [strange] })), '\u0000', 'what XML cannot say is shown as what it is');
});

t.test(
  'a run that is NOT RUN has its reasons; an expectation that could not be measured is neither good nor bad',
  async (t) => {
    const [doubled, lost, slow, failed] = recordOf().verdicts;
    const shown = 'not measurable (4 s): the simulator itself stood still for 3 s';
    const verdicts = [doubled!, { ...slow!, holds: false, measurable: false, shown }, failed!];
    const record = recordOf({ verdicts, notRun: ['activated >= 95 % (start) is required: 42 %'] });
    t.match(
      junitReport(record),
      /tests="4" failures="0" errors="1" skipped="1"(.|\n)*name="it has taken place" time="0">\n {6}<error message="NOT RUN">activated &gt;= 95 % \(start\) is required: 42 %(.|\n)*<skipped message="not measurable/,
    );
    t.match(
      closingTable(record),
      /^bad-release: NOT RUN; 2 of 3(.|\n)* {2}NOT RUN {2}activated >= 95 %(.|\n)*\? {7}p99/,
    );
    const page = reportPage(record);
    t.match(
      page,
      /<span class="verdict warn">NOT RUN<\/span>(.|\n)*Why it is NOT RUN(.|\n)*<li>activated &gt;= 95 % \(start\)/,
    );
    t.notMatch(page, /<li class="bad">/, 'what could not be measured is not coloured as failed');
    t.match(page, /<li class="unsure">.*aria-label="not measurable">\?<(.|\n)*<li class="good">/);
    t.match(reportPage({ ...record, verdicts: [...verdicts, lost!] }), /verdict bad">1 of 4 .*verdict warn">NOT RUN</);
    t.notOk(record.verdicts.some(isBrokenPromise));
    t.ok([lost!].some(isBrokenPromise), 'a promise that is broken is that all the same');
  },
);

t.test('the closing table explains every number', async (t) => {
  const text = closingTable(recordOf());
  t.match(text, /^bad-release: 3 of 4 expectations hold, 3:00, seed 7\n/);
  t.match(text, 'Unfinished   3: the device is offline, or has not answered');
  t.match(text, 'each device takes 22.4 kB');
  t.match(
    text,
    '7213 made: 7200 accepted (201), 2 answered without a transaction, 11 refused (429 8, 404 3); 5 attempts',
  );
  t.match(text, 'at the start 812.4 a second');
  t.match(text, 'failed (VERSION_NAME_MISMATCH 1804, STORAGE_FULL 200, DOWNLOAD_FAILED 65)');
  t.match(text, /ok {6}doubled == 0: 0\n/);
  t.match(text, /NOT OK {2}lost == 0: 1\n {12}1:12\.031/);
  t.match(text, '! and 4 more');
});

t.test('a report has three files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-report-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  writeReport(join(folder, 'new', 'one'), recordOf());
  t.strictSame(
    readdirSync(join(folder, 'new', 'one')).sort((a, b) => (a < b ? -1 : 1)),
    ['junit.xml', 'report.html', 'report.json'],
  );
});

t.test('thinned samples keep the highest latencies, and the last counts', async (t) => {
  const { samples } = recordOf({}, 100);
  const few = thinned(samples, 10);
  t.equal(few.length, 10);
  t.equal(few.at(-1)?.at, samples.at(-1)?.at);
  const highest = (some: typeof samples) => Math.max(...some.map(({ delivered }) => delivered?.p99 ?? 0));
  t.equal(highest(few), highest(samples));
  t.strictSame(thinned(samples, 100), samples);
});

t.test('axes have even steps, and all decades have the same length', async (t) => {
  const labels = ({ ticks }: { ticks: readonly { label: string }[] }) => ticks.map(({ label }) => label);
  t.strictSame(labels(countScale(0)), ['0', '1']);
  t.strictSame(labels(countScale(1998)), ['0', '500', '1000', '1500', '2000']);
  t.strictSame(labels(timeScale(60_000)), ['0:00', '0:10', '0:20', '0:30', '0:40', '0:50', '1:00']);
  t.strictSame(labels(latencyScale(3, 900)), ['1 ms', '10 ms', '100 ms', '1 s']);
  t.equal(latencyScale(1, 100).at(10), 0.5);
});

const standing: Standing = {
  scenario: 'shift',
  milliseconds: 95_000,
  phase: { name: 'work', round: 1, since: 60_000, duration: 70_000 },
  rounds: 3,
  whole: {
    name: 'run',
    spans: [],
    figures: figuresOf({ accepted: 120, succeeded: 100, failed: 5, cancelled: 1, doubled: 1 }, [5, 5, 5, 90]),
    fleet: { devices: 20, connected: 19, activated: 20, commands: 130, answers: 125, outstanding: 4, losses: 2 },
  },
  sample: undefined,
  faults: 7,
  expectations: [
    { text: 'lost == 0', phase: null, holds: true, shown: '0' },
    { text: 'doubled == 0', phase: 'work', holds: false, shown: '1' },
  ],
};

t.test('the display shows phase, connections, results, latency, faults and the state of expectations', async (t) => {
  const text = liveLines(standing).join('\n');
  t.match(text, 'shift  1:35  work (round 2 of 3)  [############------------] 0:35 of 1:10');
  t.match(text, 'connected 19 of 20, activated 20; 2 connections lost; 7 faults played');
  t.match(text, 'results   106 of 120 accepted: 100 succeeded, 5 failed, 1 cancelled; 0 lost, 1 doubled, 0 late');
  t.match(text, /to the device 5\S* ms \(99 %: 9\d\S* ms\)/);
  t.match(text, 'not yet: doubled == 0 (work): 1');
});

t.test('without a terminal the display is one line', async (t) => {
  const line = liveLine(standing);
  t.match(line, /^1:35 work: 19 of 20 connected, 120 accepted, 106 results, 0 lost, 1 doubled,/);
  t.notMatch(line, '\n');
});
