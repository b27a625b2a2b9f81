import { readFileSync } from 'node:fs';
import { plainText } from '../plain-text.ts';
import * as show from '../show.ts';
import { distribution, overTime } from './curves.ts';
import { Html, html } from './html.ts';
import { bars } from './plots.ts';
import { type Chapter, type RunRecord, type Verdict, WHOLE_RUN } from './record.ts';
import { countsText, stateText } from './rollout-text.ts';
import { calls, facts, holdsOf, isBrokenPromise, latencyOf, outcomes, total } from './summary.ts';

const STYLE = new URL('page.css', import.meta.url);

const metaOf = ({ run, seed, startedAt, milliseconds, groups, service, shard }: RunRecord): Html => {
  const devices = groups.reduce((sum, group) => sum + group.devices, 0);
  const rows: [string, string][] = [
    ['Run', run],
    ['Seed', String(seed)],
    ['Started', startedAt.replace('T', ' ').replace(/\..*$/, ' UTC')],
    ['Lasted', show.clock(milliseconds)],
    ['Devices', groups.length > 1 ? `${show.count(devices)} in ${groups.length} groups` : show.count(devices)],
    ['Service', service.api ?? service.mqtt],
  ];
  if (shard) rows.push(['Shard', `${shard.index} of ${shard.of}`]);
  return html`<dl class="meta">${rows.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
};

const badge = (record: RunRecord): Html => {
  const { all } = holdsOf(record);
  const failed = record.verdicts.filter(({ holds, measurable }) => !holds && measurable);
  const bad = html`<span class="verdict bad">${failed.length} of ${all} expectations do not hold</span>`;
  if (record.notRun.length > 0)
    return html`${failed.some(isBrokenPromise) ? html`${bad} ` : null}<span class="verdict warn">NOT RUN</span>`;
  if (failed.length > 0) return bad;
  if (record.interrupted) return html`<span class="verdict warn">Ended early</span>`;
  if (all === 0) return html`<span class="verdict warn">No expectations</span>`;
  return html`<span class="verdict good">All ${all} expectations hold</span>`;
};

function tiles(whole: Chapter): Html {
  const { figures, fleet } = whole;
  const tile = (name: string, value: string, note: string, look = ''): Html =>
    html`<div class="tile"><dt>${name}</dt><dd class="${look}">${value}</dd><p>${note}</p></div>`;
  const connected = tile(
    'Connected',
    show.count(fleet['connected'] ?? 0),
    `of ${show.count(fleet['devices'] ?? 0)}, at the end`,
  );
  if (!figures) return html`<dl class="tiles">${connected}</dl>`;
  const bad = (value: number): string => (value === 0 ? 'good' : 'bad');
  const { lost, doubled, late, accepted } = figures;
  const toDevice = latencyOf(whole, 'delivered');
  const settled = latencyOf(whole, 'settled');
  return html`<dl class="tiles">
${tile('Accepted', show.count(accepted), `of ${show.count(figures.requests)} calls got a 201`)}
${tile('Lost', show.count(lost), 'got a 201, but no result', bad(lost))}
${tile('Doubled', show.count(doubled), 'carried out or reported twice', bad(doubled))}
${tile('Late', show.count(late), 'results later than allowed', bad(late))}
${tile('To the device', toDevice ? show.duration(toDevice.p50) : '–', toDevice ? `99 % within ${show.duration(toDevice.p99)}` : 'nothing was delivered')}
${tile('To the result', settled ? show.duration(settled.p50) : '–', settled ? `99 % within ${show.duration(settled.p99)}` : 'no result arrived')}
${connected}
</dl>`;
}

/** The reasons why the run says nothing, or not all that it should. */
function reasonsOf({ notRun }: RunRecord): Html | null {
  if (notRun.length === 0) return null;
  return html`<section><h2>Why it is NOT RUN</h2><ul class="card troubles">${notRun.map((text) => html`<li>${text}</li>`)}</ul></section>`;
}

/** An expectation that could not be measured is neither good nor bad. */
const LOOKS = {
  good: { mark: '✓', label: 'holds' },
  bad: { mark: '✕', label: 'does not hold' },
  unsure: { mark: '?', label: 'not measurable' },
} as const;
const lookOf = ({ holds, measurable }: Verdict): keyof typeof LOOKS => (holds ? 'good' : measurable ? 'bad' : 'unsure');
/** The order in which the page shows them. */
const ORDER: readonly (keyof typeof LOOKS)[] = ['bad', 'unsure', 'good'];

function expectation(verdict: Verdict): Html {
  const { text, phase, shown, story } = verdict;
  const look = lookOf(verdict);
  const { mark, label } = LOOKS[look];
  const lines = story.map((line) => html`<li>${line}</li>`);
  return html`<li class="${look}"><div class="expectation"><span class="mark" aria-label="${label}">${mark}</span><span><code>${text}</code>${
    phase === null ? null : html`<span class="chip">${phase}</span>`
  }</span><span class="value">${shown}</span></div>${
    story.length > 0 ? html`<div class="story"><p>What happened on one device</p><ol>${lines}</ol></div>` : null
  }</li>`;
}

function expectations(verdicts: readonly Verdict[]): Html | null {
  if (verdicts.length === 0) return null;
  const ordered = [...verdicts].sort((a, b) => ORDER.indexOf(lookOf(a)) - ORDER.indexOf(lookOf(b)));
  return html`<section><h2>Expectations</h2><ul class="card expectations">${ordered.map(expectation)}</ul></section>`;
}

/** The phases side by side, the whole run first. */
function phases(chapters: readonly Chapter[]): Html {
  const duration = (value: number | undefined): string => (value === undefined ? '–' : show.duration(value));
  const rows = chapters.map((chapter) => {
    const { name, spans, figures, fleet } = chapter;
    const [delivered, settled] = [latencyOf(chapter, 'delivered'), latencyOf(chapter, 'settled')];
    const wrong = (value: number): Html => html`<td class="${value > 0 ? 'bad' : ''}">${show.count(value)}</td>`;
    const lasted = spans.reduce((sum, { from, to }) => sum + to - from, 0);
    const label = name === WHOLE_RUN ? 'Whole run' : spans.length > 1 ? `${name} × ${spans.length}` : name;
    const cells = figures
      ? html`<td>${show.count(figures.accepted)}</td><td>${show.count(figures.succeeded)}</td><td>${show.count(figures.failed)}</td><td>${show.count(figures.unfinished)}</td>${wrong(figures.lost)}${wrong(figures.doubled)}${wrong(figures.late)}`
      : html`<td>–</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–</td><td>–</td>`;
    return html`<tr><th scope="row">${label}</th><td>${show.clock(lasted)}</td>${cells}<td>${duration(delivered?.p50)}</td><td>${duration(delivered?.p99)}</td><td>${duration(settled?.p99)}</td><td>${show.count(fleet['connected'] ?? 0)}</td></tr>`;
  });
  const head = ['Phase', 'Lasted', 'Accepted', 'Succeeded', 'Failed', 'Unfinished', 'Lost', 'Doubled', 'Late'];
  const more = ['To device, p50', 'p99', 'To result, p99', 'Connected'];
  return html`<section><h2>Phases</h2><div class="card scroll"><table><thead><tr>${[...head, ...more].map((text) => html`<th scope="col">${text}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

/** The rollouts, in the order of their starts. */
function rolloutsOf({ rollouts = [] }: RunRecord): Html | null {
  if (rollouts.length === 0) return null;
  const rows = rollouts.map((rollout) => {
    const { label, phase, stages, plannedStages, devices, spared, overshoot } = rollout;
    return html`<tr><th scope="row">${plainText(label)}</th><td>${phase}</td><td>${stateText(rollout)}</td><td>${stages} of ${plannedStages}</td><td>${show.count(devices)}</td><td>${countsText(rollout)}</td><td>${show.count(spared)}</td><td class="${overshoot > 0 ? 'bad' : ''}">${show.count(overshoot)}</td></tr>`;
  });
  const head = ['Rollout', 'Phase', 'State', 'Stages', 'Devices', 'By state', 'Spared', 'Overshoot'];
  return html`<section><h2>Rollouts</h2><div class="card scroll"><table><thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

/** The whole report as one page: without scripts and without network, for every width, in light and dark. */
export function reportPage(record: RunRecord): string {
  const whole = total(record);
  const curves = overTime(record);
  const faults = Object.entries(record.faults).sort(([, a], [, b]) => b - a);
  const troubles = [
    ...record.troubles,
    ...(record.troublesNotShown > 0 ? [`and ${record.troublesNotShown} more`] : []),
  ];
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${record.scenario} – report of the simulator</title>
<style>
${new Html(readFileSync(STYLE, 'utf8'))}</style>
</head>
<body>
<main>
<header>
<p class="brand">Lapel simulator</p>
<h1>${record.scenario} ${badge(record)}</h1>
<p class="about">${record.about}</p>
${metaOf(record)}
</header>
${reasonsOf(record)}
${tiles(whole)}
${expectations(record.verdicts)}
<section><h2>What happened</h2><div class="plots">
${curves.latency ? html`<div class="wide">${curves.latency}</div>` : null}
${curves.connected}
${whole.figures ? distribution(whole) : null}
${bars({ title: 'Transactions by state', note: 'How many of the transactions that got a 201 ended in which state.', rows: outcomes(whole), shown: show.count })}
${bars({ title: 'Results by code', note: 'Results of transactions by error code, and calls that were refused.', rows: calls(whole), shown: show.count })}
${
  faults.length > 0
    ? html`<div class="wide">${bars({
        title: 'Faults played',
        note: 'How often each fault was played.',
        rows: faults.map(([name, value]) => ({ name, value, look: 'warn' })),
        shown: show.count,
      })}</div>`
    : null
}
</div></section>
${rolloutsOf(record)}
${phases(record.chapters)}
<section><h2>Fleet and process</h2><dl class="card facts">${facts(record).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>
${troubles.length > 0 ? html`<section><h2>Troubles</h2><ul class="card troubles">${troubles.map((text) => html`<li>${text}</li>`)}</ul></section>` : null}
<footer>Times count from the customer’s request: until the device has the command, until the service has acknowledged the device’s answer, and until the customer has verified the result. Rest the pointer on a plot to see its numbers.</footer>
</main>
</body>
</html>
`;
  return page.text;
}
