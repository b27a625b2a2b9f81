import { generateKeyPairSync } from 'node:crypto';
import { signatureBy } from '../../files/signature.ts';
import { codeOf, shownAck, stillAnswers } from '../asking.ts';
import { Breach, LeftOut } from '../breach.ts';
import { installOf, type Sign, signerOf } from '../install.ts';
import { sha256Of } from '../package-files.ts';
import { need, reconnected, type Stage } from '../stage.ts';
import type { Case } from './case.ts';
import { answerOf, lists } from './download-cases.ts';

/** The signatures that a thief without the private key can send, by name. */
function forgeries(good: Sign): readonly (readonly [title: string, sign: Sign])[] {
  const stranger = generateKeyPairSync('ed25519').privateKey;
  return [
    ['without a signature', () => undefined],
    [
      'with the signature of another key',
      (wanted, sha256) => {
        const signed = good(wanted, sha256);
        return signed && { ...signed, signature: signatureBy(stranger, wanted, sha256) };
      },
    ],
    [
      'with the signature of another package',
      (wanted, sha256) => good({ ...wanted, package: 'com.example.other' }, sha256),
    ],
    ['with the signature of an older version', (wanted, sha256) => good({ ...wanted, version: '0.9.0' }, sha256)],
    ['with the signature of another file', (wanted) => good(wanted, sha256Of(Buffer.from('another file')))],
  ];
}

async function signatures(stage: Stage): Promise<string> {
  if (!stage.settings.signingKey) throw new LeftOut('needs --signing-key');
  need(stage, 'installSoftware');
  const refused = [];
  for (const [title, sign] of forgeries(signerOf(stage))) {
    const order = installOf(stage, { sign });
    const ack = await answerOf(stage, order);
    need(stage, 'installSoftware');
    if (ack.status !== 'failed' || codeOf(ack) !== 'SIGNATURE_REJECTED')
      throw new Breach('signatures', `failed SIGNATURE_REJECTED for a version ${title}`, JSON.stringify(ack));
    refused.push(order.wanted);
  }
  const mark = stage.service.received.length;
  await reconnected(stage);
  await stillAnswers(stage, 'answers');
  const statuses = stage.service.received.slice(mark).filter(({ kind }) => kind === 'status');
  if (refused.some((wanted) => statuses.some(({ body }) => lists(body, wanted))))
    throw new Breach('signatures', 'a status without the refused versions', 'a status that lists one as installed');
  const ack = await answerOf(stage, installOf(stage));
  if (codeOf(ack) === 'SIGNATURE_REJECTED')
    throw new Breach(
      'signatures',
      'no SIGNATURE_REJECTED for a version that the trusted key has signed',
      JSON.stringify(ack),
    );
  return `${refused.length} rejected, then ${shownAck(ack)}`;
}

export const signatureCases: Readonly<Record<string, Case>> = {
  signatures: {
    about: 'software without a signature, with those of another key, package, version and file, and with the right one',
    rules: ['signatures'],
    play: signatures,
  },
};
