import { toUtc } from '../../../runtime/clock.ts';
import type { AuditObject } from '../audit-repository.ts';
import type { SealedRow } from '../chain-repository.ts';

/** PRI of RFC 5424 6.2.1: facility 13, log audit, with the severity notice or warning. */
const NOTICE = 13 * 8 + 5;
const WARNING = 13 * 8 + 4;
/** The enterprise number of examples (RFC 5612): this software has none of its own. */
const SD_ID = 'lapel@32473';
/** The most characters of the details of an entry, in ASCII; longer ones are left out, and their length is told. */
const LONGEST_DETAILS = 6_000;
/** The most objects that a message names; the entry itself has all. */
const MOST_OBJECTS = 100;
const LONGEST_HOST = 255;

/** A value of structured data (RFC 5424 6.3.3): three characters are escaped, control characters become spaces. */
const escaped = (text: string): string =>
  text.replace(/\p{Cc}/gu, ' ').replace(/["\\\]]/g, (character) => `\\${character}`);

/** JSON with ASCII only, so that a receiver needs no byte order mark to know its encoding. */
const asciiJson = (value: unknown): string =>
  JSON.stringify(value).replace(/[\u007f-\uffff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

const detailsOf = ({ details }: SealedRow): unknown => {
  if (details === null) return null;
  if (details.length > LONGEST_DETAILS) return { leftOut: details.length };
  const shown: unknown = JSON.parse(details);
  return asciiJson(shown).length > LONGEST_DETAILS ? { leftOut: details.length } : shown;
};

const isRefusal = ({ action, status }: SealedRow): boolean =>
  action.startsWith('REFUSED ') || (status !== null && status >= 400);

/**
 * Makes the syslog message (RFC 5424) of a sealed entry. Its structured data has what a receiver filters by, and the
 * position and hash in the chain, which it can compare later; its text is the entry as JSON.
 */
export function syslogMessage(row: SealedRow, objects: readonly AuditObject[], host: string): string {
  const names = {
    position: row.position,
    hash: row.hash,
    auditId: row.auditId,
    actor: row.actorKind,
    actorName: row.actorName,
    personId: row.personId,
    action: row.action,
    resource: row.resource,
    status: row.status,
    address: row.address,
    requestId: row.requestId,
  };
  const given = Object.entries(names).filter(([, value]) => value !== null);
  const data = given.map(([name, value]) => `${name}="${escaped(String(value))}"`).join(' ');
  const entry = {
    at: toUtc(row.at),
    ...names,
    personName: row.personName,
    token: row.tokenName,
    details: detailsOf(row),
    objects: objects
      .map(({ kind, id }) => `${kind}:${id}`)
      .sort()
      .slice(0, MOST_OBJECTS),
  };
  const hostname = host.replace(/[^\u0021-\u007e]/g, '').slice(0, LONGEST_HOST) || '-';
  const priority = isRefusal(row) ? WARNING : NOTICE;
  return `<${priority}>1 ${toUtc(row.at)} ${hostname} lapel - AUDIT [${SD_ID} ${data}] ${asciiJson(entry)}`;
}
