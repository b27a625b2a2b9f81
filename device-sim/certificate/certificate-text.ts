import { plainText } from '../plain-text.ts';
import { clock } from '../show.ts';
import type { Certificate, RuleOutcome } from './certificate.ts';

const WORDS: Readonly<Record<RuleOutcome['outcome'], string>> = {
  holds: 'OK',
  broken: 'NOT OK',
  'not seen': 'not seen',
};
const WHOLE: Readonly<Record<Certificate['outcome'], string>> = {
  passed: 'passed: each rule was seen to hold',
  failed: 'failed: a rule was broken',
  incomplete: 'incomplete: no rule was broken, and some were not seen',
};

/** The lines of a fact or of evidence; texts of the device are made plain. */
const line = (left: string, right: string): string => `${plainText(left).padEnd(12)}${plainText(right)}`;

/** A signed report for people. `keyId` is that of the key with which it was checked. */
export function certificateText(certificate: Certificate, keyId: string): string {
  const { tested, subject, release, rulesDigest, startedAt, milliseconds, outcome, rules } = certificate;
  const facts = [
    ['Signed by', keyId],
    ['Tested', tested],
    ...Object.entries(subject),
    ['Started', `${startedAt} (the clock of the tester), ${clock(milliseconds)}`],
    ['Rules', `of Lapel ${release}, ${rulesDigest.slice(0, 16)}`],
    ['Outcome', WHOLE[outcome]],
  ] as const;
  const broken = rules.flatMap(({ name, evidence }) =>
    evidence
      .filter((one) => one.outcome === 'broken')
      .flatMap((one) => [`${name}, in ${one.name}:`, ...one.story.map((text) => `  ${text}`)]),
  );
  return [
    ...facts.map(([name, value]) => line(name, String(value))),
    '',
    ...rules.map(({ name, text, outcome: of }) => `  ${line(WORDS[of], `${name}: ${text}`)}`),
    ...(broken.length > 0 ? ['', ...broken.map(plainText)] : []),
    '',
  ].join('\n');
}
