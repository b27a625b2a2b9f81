import { createHash } from 'node:crypto';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Sql, UnitOfWork } from '../../platform/database/sql.ts';
import { type AuditObject, objectsOfEntries } from './audit-repository.ts';
import {
  countUnsealed,
  findChain,
  findSealable,
  listSealed,
  lockChain,
  NO_HASH,
  type SealedRow,
  saveSeal,
} from './chain-repository.ts';
import { type ChainSeal, judgeSeal, nextSeal } from './chain-seal.ts';

/** Entries that one step of a check reads. */
const AT_ONCE = 500;

/**
 * The hash of an entry at a position: SHA-256 over the hash of the entry before it and the JSON of its values, in this
 * order. So nobody can change, remove or insert an entry without changing all hashes behind it.
 */
function hashOf(before: string, position: number, row: SealedRow, objects: readonly AuditObject[]): string {
  const sorted = objects.map(({ kind, id }) => `${kind}:${id}`).sort();
  const values = [
    position,
    row.auditId,
    row.at,
    row.actorKind,
    row.actorName,
    row.personId,
    row.personName,
    row.tokenName,
    row.action,
    row.resource,
    row.requestId,
    row.address,
    row.status,
    row.details,
    sorted,
  ];
  return createHash('sha256').update(before).update(JSON.stringify(values)).digest('hex');
}

/**
 * Seals a complete entry: gives it the next position, and its hash. An entry that is sealed or was removed stays so. Everybody
 * who seals waits for the lock of the chain, so it is taken with the reads, and kept for two round trips with the COMMIT.
 */
export async function sealEntry(unit: UnitOfWork, auditId: number): Promise<void> {
  const [chain, row, objects] = await inOneGo(
    lockChain(unit),
    findSealable(unit, auditId),
    objectsOfEntries(unit, [auditId]),
  );
  if (!row || row.position !== null) return;
  const position = chain.position + 1;
  const next = { position, hash: hashOf(chain.hash, position, row, objects.get(auditId) ?? []) };
  saveSeal(unit, { auditId, ...next, seal: nextSeal(unit.vault, chain, chain.seal, next) });
}

/** The result of a check of the audit log. */
export interface Checked {
  /** The number of entries that were checked, from the position `from` to that of `head`. */
  entries: number;
  from: number;
  head: { position: number; hash: string };
  /** Whether who wrote the end had the encryption key. */
  seal: ChainSeal;
  /** Entries without a position: of earlier releases, and of requests that have not ended. */
  earlier: number;
  open: number;
  /** The first entry that is not as it was sealed; null when all are. */
  broken: { position: number; auditId: number | null; reason: string } | null;
}

interface Known {
  position: number;
  hash: string;
}

/**
 * Checks the hashes of all sealed entries from the oldest that is left on. `known` is an end of the chain that was noted
 * before: it must still be part of it. The service may write and remove entries meanwhile.
 */
export async function checkChain(sql: Sql, known?: Known): Promise<Checked> {
  const chain = await findChain(sql);
  if (!chain) {
    const { earlier, open } = await countUnsealed(sql, Number.MAX_SAFE_INTEGER);
    const broken = known ? { position: known.position, auditId: null, reason: 'it is missing' } : null;
    const head = { position: 0, hash: NO_HASH };
    return { entries: 0, from: 1, head, seal: judgeSeal(sql.vault, head, null), earlier, open, broken };
  }
  const head = { position: chain.position, hash: chain.hash };
  const seal = judgeSeal(sql.vault, head, chain.seal);
  let last: Known = { position: chain.cutPosition, hash: chain.cutHash };
  let from = last.position + 1;
  let entries = 0;
  let broken: Checked['broken'] = null;
  const fail = (position: number, auditId: number | null, reason: string): void => {
    broken ??= { position, auditId, reason };
  };
  /** Compares a place in the chain with the one that was noted. */
  const compare = ({ position, hash }: Known, auditId: number | null): void => {
    if (known?.position === position && known.hash !== hash)
      fail(position, auditId, 'it is another entry than when the end of the chain was noted');
  };
  compare(last, null);
  while (last.position < head.position && !broken) {
    const rows = await listSealed(sql, last.position, AT_ONCE);
    const objects = await objectsOfEntries(
      sql,
      rows.map(({ auditId }) => auditId),
    );
    const [first] = rows;
    if (first?.position !== last.position + 1) {
      // Retention may have removed the next entries meanwhile.
      const now = await findChain(sql);
      if (now && now.cutPosition > last.position) {
        last = { position: now.cutPosition, hash: now.cutHash };
        [from, entries] = [last.position + 1, 0];
        continue;
      }
    }
    for (const row of rows) {
      const position = last.position + 1;
      if (row.position !== position) fail(position, null, 'it is missing');
      else if (hashOf(last.hash, position, row, objects.get(row.auditId) ?? []) !== row.hash)
        fail(position, row.auditId, 'it was changed, or an entry before it');
      if (broken || position > head.position) break;
      last = { position, hash: row.hash as string };
      entries += 1;
      compare(last, row.auditId);
    }
    if (rows.length === 0) fail(last.position + 1, null, 'it is missing');
  }
  if (!broken && last.hash !== head.hash) fail(head.position, null, 'it is not the end that was stored');
  if (!broken && known && known.position > head.position) fail(known.position, null, 'it is missing');
  if (seal.state === 'wrong')
    fail(head.position, null, 'its seal is wrong: who wrote it did not have the encryption key');
  return { entries, from, head, seal, ...(await countUnsealed(sql, chain.firstId)), broken };
}
