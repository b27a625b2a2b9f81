import type { ApplicationAuthentication } from '@lapel/schemas/contracts/types';
import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { secretMarkOf } from '../../runtime/secret-hash.ts';
import type { Micros } from '../../runtime/units.ts';

/** A secret of an application, without the secret itself. */
export interface ApplicationSecret {
  /** Names the secret: also in the access tokens that were issued for it. */
  secretId: string;
  hash: Buffer;
  name: string | null;
  /** Null for a secret of a release that did not store it. */
  createdAt: Micros | null;
  /** Stored once a minute at most. */
  usedAt: Micros | null;
  /** From this time on the secret is invalid; null: it is valid until it is ended. */
  endsAt: Micros | null;
}

interface Row {
  authentication: ApplicationAuthentication;
  hash: Buffer;
  name: string | null;
  createdAt: Micros | null;
  usedAt: Micros | null;
  formerHash: Buffer | null;
  formerName: string | null;
  formerCreatedAt: Micros | null;
  formerUsedAt: Micros | null;
  formerEndsAt: Micros | null;
}

const COLUMNS = `authentication, secret_hash AS hash, secret_name AS name, secret_created_at AS "createdAt", secret_used_at AS "usedAt",
  former_secret_hash AS "formerHash", former_secret_name AS "formerName", former_secret_created_at AS "formerCreatedAt",
  former_secret_used_at AS "formerUsedAt", former_secret_ends_at AS "formerEndsAt"`;

/** The proofs that an application can give: its secrets or certificates. */
interface Proofs {
  authentication: ApplicationAuthentication;
  /** The valid secrets, the newest first. */
  secrets: ApplicationSecret[];
}

/**
 * Finds what an application proves itself with at a time; undefined when there is no such application, or it was deleted.
 */
export async function findProofs(
  sql: Sql,
  applicationId: string,
  now: Micros,
  lock: Lock = '',
): Promise<Proofs | undefined> {
  const row = await sql.get<Row>(
    `SELECT ${COLUMNS} FROM applications WHERE application_id = ? AND deleted_at IS NULL${lock}`,
    applicationId,
  );
  if (!row) return undefined;
  const { authentication, hash, name, createdAt, usedAt, formerHash, formerEndsAt: endsAt } = row;
  const newest = { secretId: secretMarkOf(hash), hash, name, createdAt, usedAt, endsAt: null };
  if (formerHash === null || (endsAt !== null && now >= endsAt)) return { authentication, secrets: [newest] };
  const former = { name: row.formerName, createdAt: row.formerCreatedAt, usedAt: row.formerUsedAt, endsAt };
  const secrets = [newest, { secretId: secretMarkOf(formerHash), hash: formerHash, ...former }];
  return { authentication, secrets };
}

/** Stores the secrets of an application: the newest, and the one before if it is still valid. */
export async function saveSecrets(
  unit: UnitOfWork,
  applicationId: string,
  newest: ApplicationSecret,
  former?: ApplicationSecret,
): Promise<void> {
  await unit.run(
    `UPDATE applications SET secret_hash = ?, secret_name = ?, secret_created_at = ?, secret_used_at = ?,
       former_secret_hash = ?, former_secret_name = ?, former_secret_created_at = ?, former_secret_used_at = ?,
       former_secret_ends_at = ? WHERE application_id = ?`,
    newest.hash,
    newest.name,
    newest.createdAt,
    newest.usedAt,
    former?.hash ?? null,
    former?.name ?? null,
    former?.createdAt ?? null,
    former?.usedAt ?? null,
    former?.endsAt ?? null,
    applicationId,
  );
}

/** Stores that a secret was used, if the application still has it. */
export async function saveSecretUse(unit: UnitOfWork, applicationId: string, hash: Buffer, at: Micros): Promise<void> {
  await unit.run(
    `UPDATE applications SET secret_used_at = CASE WHEN secret_hash = ? THEN ? ELSE secret_used_at END,
       former_secret_used_at = CASE WHEN former_secret_hash = ? THEN ? ELSE former_secret_used_at END
     WHERE application_id = ?`,
    hash,
    at,
    hash,
    at,
    applicationId,
  );
}
