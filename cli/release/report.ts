import { appendFile, open } from 'node:fs/promises';
import { UsageError } from '../line/usage-error.ts';
import { countsText, healthText, type Rollout } from '../rollout/rollout-text.ts';
import { oneLine } from '../show/plain-text.ts';
import type { Ending } from './ending.ts';
import type { Identity } from './identity.ts';

/** What a release has come to so far: the object of `--json`. */
export interface Report extends Identity {
  file: { name: string; size: number; sha256: string };
  /** The key of the signature that this job has stored; null without one. */
  keyId: string | null;
  /** Whether this job started the rollout, or found it; null before. */
  rolloutId: string | null;
  started: boolean;
  /** The page of the rollout in the console. */
  page: string | null;
  status: Ending['status'] | 'failed' | 'interrupted';
  rollout: Rollout | null;
}

/** The places that a CI gives a job for its results. */
export interface Places {
  summary: string | undefined;
  variables: string | undefined;
}

/** Fails before anything is done when a file cannot be written, and not after an hour. Throws a UsageError. */
export async function checkPlaces({ summary, variables }: Places): Promise<void> {
  for (const [option, path] of [['--summary', summary] as const, ['--variables', variables] as const]) {
    if (path === undefined) continue;
    try {
      await (await open(path, 'a')).close();
    } catch (error) {
      throw new UsageError(option, (error as Error).message);
    }
  }
}

/** A text in Markdown that shows as it is: device codes and labels are foreign. */
const plain = (text: string): string =>
  oneLine(text)
    .replace(/[\\`*_{}[\]()#+!|~>@$-]/g, '\\$&')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');

const row = (...cells: string[]): string => `| ${cells.join(' | ')} |`;

function stageRows({ stages, devices }: Rollout): string[] {
  const head = [row('Stage', 'State', 'Devices', 'Results', 'Soak', 'Health'), '|---|---|---|---|---|---|'];
  const rows = stages.map(({ state, planned, counts, inWork, continueWhen, health }, index) => {
    const soak = continueWhen?.soakFor ? `${continueWhen.soakFor} s` : 'none';
    const seen = health === null ? 'not looked at' : healthText(health);
    const results = state === 'waiting' ? '' : countsText(counts, inWork);
    return row(`${index + 1} of ${stages.length}`, state, String(planned), plain(results), soak, plain(seen));
  });
  return devices === 0 ? [] : ['', ...head, ...rows];
}

/** Says what "succeeded" has shown. A success is the word of the device, and no rule looks at it later unless asked to. */
function healthSentence({ rules, stages, state }: Rollout): string {
  const isConfirmed = rules.confirm !== undefined;
  const soaks = stages.some(({ continueWhen }) => (continueWhen?.soakFor ?? 0) > 0);
  const success = isConfirmed
    ? 'A device has succeeded when it was seen again after its result.'
    : 'A device has succeeded when it says so; nobody has looked whether it came back (confirm).';
  const watched = rules.health
    ? `${rules.health.length} health ${rules.health.length === 1 ? 'rule' : 'rules'} looked at the devices${state === 'completed' ? ' until the rollout ended' : ''}.`
    : 'No health rule looks at the devices.';
  return `${success} ${watched} ${soaks ? '' : 'No stage has a soak, so nothing says how the devices are an hour later.'}`.trim();
}

/** The summary of a job in Markdown. */
export function summaryOf(report: Report, ending: Pick<Ending, 'sentence' | 'details' | 'next'>): string {
  const { file, rolloutId, page, rollout, keyId, started } = report;
  const link = rolloutId === null ? 'none' : page === null ? rolloutId : `[${rolloutId}](${page})`;
  const facts = [
    row('Rollout', `${link}${started || rolloutId === null ? '' : ' (started by an earlier job)'}`),
    row('Commit', plain(report.commit)),
    row('File', plain(`${file.name}, ${file.size} bytes, SHA-256 ${file.sha256}`)),
    ...(keyId === null ? [] : [row('Signed with', plain(keyId))]),
  ];
  const lines = [
    `## ${plain(`${report.package} ${report.version}`)}: ${report.status}`,
    '',
    `${plain(ending.sentence)}.`,
    '',
    ...ending.details.map((line) => `- ${plain(line)}`),
    ...ending.next.map((line) => `- Next: ${plain(line)}`),
    '',
    row('', ''),
    '|---|---|',
    ...facts,
    ...(rollout === null ? [] : [...stageRows(rollout), '', plain(healthSentence(rollout))]),
  ];
  return `${lines.join('\n')}\n\n`;
}

/** The results as lines NAME=value, for later steps of a pipeline. No value has a line end. */
export function variablesOf({ status, rolloutId, package: name, version, rollout, page }: Report): string {
  const values = {
    STATUS: status,
    PACKAGE: name,
    VERSION: version,
    ROLLOUT_ID: rolloutId ?? '',
    PAGE: page ?? '',
    SUCCEEDED: rollout?.counts.succeeded ?? 0,
    FAILED: rollout?.counts.failed ?? 0,
  };
  return Object.entries(values)
    .map(([key, value]) => `RELEASE_${key}=${oneLine(String(value))}\n`)
    .join('');
}

/** Writes the results to the files of the CI. A disk that is full by now changes nothing about the release. */
export async function writeReport(
  { summary, variables }: Places,
  report: Report,
  ending: Pick<Ending, 'sentence' | 'details' | 'next'>,
): Promise<string[]> {
  const files: [string | undefined, string][] = [
    [summary, summaryOf(report, ending)],
    [variables, variablesOf(report)],
  ];
  const faults: string[] = [];
  for (const [path, text] of files)
    if (path !== undefined)
      await appendFile(path, text).catch((error: Error) => faults.push(`note: ${oneLine(error.message)}`));
  return faults;
}
