import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'encryption'>;

async function bodyOf(encryption: AdminServices['encryption']): Promise<SchemaTypes['admin/encryption']> {
  const { keys, rotation } = await encryption.state();
  return {
    keys,
    rotation: rotation
      ? {
          keyId: rotation.keyId,
          state: rotation.state,
          waitsFor: [...rotation.waitsFor],
          rewritten: rotation.rewritten,
          requestedAt: toUtc(rotation.requestedAt),
          startedAt: rotation.startedAt === null ? null : toUtc(rotation.startedAt),
          endedAt: rotation.endedAt === null ? null : toUtc(rotation.endedAt),
        }
      : null,
  };
}

/** Says with which keys secrets are encrypted, and how far the latest rotation is. */
export async function readEncryption({ encryption }: Services): Promise<Answer> {
  return { status: 200, body: await bodyOf(encryption) };
}

/** Begins to encrypt all secrets with the newest key. */
export async function rotateEncryptionKey({ encryption }: Services): Promise<Answer> {
  await encryption.rotate();
  return { status: 202, body: await bodyOf(encryption) };
}
