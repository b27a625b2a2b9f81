import { MEASURE_NAMES } from '@lapel/schemas/base/rollout-health';
import { type Verdict, type VerdictLine, verdictLines } from '@lapel/schemas/base/rollout-verdict';
import { li, p, span, ul, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { badge, type Tone } from './show.ts';

const UNKNOWN = 'unknown';
const WORDS: Readonly<Record<string, Tone>> = { good: 'good', worse: 'warn', broken: 'bad' };
/** The lines of faults; one without any is shown only where it says that there is none. */
const FAULTS: readonly string[] = ['failed', 'failed in stages before', 'rules that have fired', 'paused'];
const NONE: readonly string[] = ['0', 'none', 'no'];

function toneOf([name, value]: VerdictLine): Tone {
  // The word follows the number of silent devices in brackets.
  const tone = WORDS[/\w+(?=\)?$)/.exec(value)?.[0] ?? ''];
  if (tone !== undefined) return tone;
  return FAULTS.includes(name) && !NONE.includes(value) ? 'bad' : '';
}

/** The verdict on a stage at a glance: a badge for each line that says something, then the measures of which nothing is known. */
export function verdictView(verdict: Verdict, label: string): VNode {
  const lines = verdictLines(verdict);
  const shown = lines.filter(([name, value]) => value !== UNKNOWN && (!NONE.includes(value) || name === 'failed'));
  const unknown = lines.filter(([, value]) => value === UNKNOWN).map(([name]) => name);
  return ul(
    { class: 'verdict', 'aria-label': label },
    shown.map(([name, value]) => li({ key: name }, badge(toneOf([name, value]), `${name}: ${visible(value)}`))),
    unknown.length === 0
      ? null
      : li(
          { key: UNKNOWN, class: 'small quiet' },
          unknown.length > Object.keys(MEASURE_NAMES).length
            ? 'nothing is known of their health yet'
            : `not known yet: ${unknown.join(', ')}`,
        ),
  );
}

/** Says that somebody must look again, because the figures are no longer those that were shown. */
export const changedView = (changes: readonly string[]): VNode =>
  p(
    { class: 'note warn', role: 'alert' },
    'The figures have changed since you read them, so nothing was sent. ',
    span({ class: 'wrap' }, changes.length === 0 ? 'They are as they were again.' : `${visible(changes.join('; '))}.`),
    ' Look again: above are the present ones.',
  );
