import { ALL_KINDS, KINDS } from '../trial/kinds.ts';
import type { TrialRecord } from '../trial/trial-record.ts';
import { type Certificate, certify, type Evidence } from './certificate.ts';

const WANTED = { accepted: 'is answered with a 2xx', refused: 'is answered with a 4xx' } as const;
const OF_KINDS = Object.fromEntries(
  ALL_KINDS.map((kind) => [kind, `${KINDS[kind].about} ${WANTED[KINDS[kind].answer]}`]),
);
/** `kept` is the rule that the list of `--kept` shows. The text of a verdict begins with its rule. */
const TEXTS = { ...OF_KINDS, kept: 'each accepted webhook is kept, each webhook-id once, and no refused one' };

/** A query and credentials stay with the tester, because strangers read the report. */
function addressOf(forward: string): string {
  const { origin, pathname } = new URL(forward);
  return `${origin}${pathname}`;
}

function evidenceOf(rule: string, { verdicts }: TrialRecord): Evidence[] {
  const looked = verdicts.filter(({ text }) => text.startsWith(`${rule}:`));
  return looked.map(({ text, holds, measurable, shown, story }) => ({
    name: text,
    outcome: holds ? ('holds' as const) : measurable ? ('broken' as const) : ('not seen' as const),
    shown,
    story: holds ? [] : story,
  }));
}

/** The report of a test of a receiver, with the evidence for each kind of webhook. */
export const certificateOfReceiver = (record: TrialRecord): Certificate => {
  const { forward, seed, startedAt, milliseconds } = record;
  return certify({
    tested: 'receiver',
    subject: { url: addressOf(forward) },
    rules: TEXTS,
    evidenceOf: (rule) => evidenceOf(rule, record),
    seed,
    startedAt,
    milliseconds,
  });
};
