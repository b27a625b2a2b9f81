import { type Contracts, readInteger, type SchemaName } from '@lapel/schemas/contracts/contracts';
import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';

const SCHEMAS: Record<string, SchemaName> = {
  applicationId: 'common/application-id',
  developerId: 'common/developer-id',
  deviceId: 'common/device-id',
  transactionId: 'common/transaction-id',
  deliveryId: 'common/delivery-id',
  consumer: 'common/consumer-name',
  endpointId: 'common/endpoint-id',
  sequence: 'common/event-sequence',
  rolloutId: 'common/rollout-id',
  batchId: 'common/batch-id',
  authorityId: 'common/authority-id',
  removalId: 'common/removal-id',
  actionId: 'common/action-id',
  keyId: 'common/software-key-id',
  certificateId: 'common/application-certificate-id',
  secretId: 'common/secret-id',
  sessionId: 'common/console-session-id',
  personId: 'common/person-id',
  noteId: 'common/note-id',
  memberId: 'common/member-id',
  providerId: 'common/provider-id',
  tokenId: 'common/person-token-id',
  page: 'common/docs-page',
  package: 'common/package-name',
  version: 'common/version-name',
};

/** The parameters that are numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['transactionId', 'sequence']);

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Marks the parameters of a path that cannot be decoded with a NUL, which each schema refuses: the router has left them as
 * they were received, so `%zz` would name the version whose path is `%25zz`.
 */
function marked(path: string, params: Record<string, string>): Record<string, string> {
  if (!path.includes('%') || isDecodable(path)) return params;
  const entries = Object.entries(params).map(([name, value]) => [name, isDecodable(value) ? value : `${value}\0`]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/**
 * Checks every path parameter by its schema and turns numeric ones into numbers. Throws PATH_PARAMETER_INVALID, which
 * lists every faulty parameter.
 */
export function checkPathParameters(
  contracts: Contracts,
  path: string,
  decoded: Record<string, string>,
): Record<string, string | number> {
  const params = marked(path, decoded);
  const checked: Record<string, string | number> = {};
  let details: Fault[] | undefined;
  for (const name in params) {
    const schema = SCHEMAS[name];
    if (schema === undefined) throw new Error(`the path parameter ${name} has no schema`);
    const value = NUMBERS.has(name) ? readInteger(params[name]!) : params[name]!;
    if (!contracts.accepts(schema, value)) {
      details = [...(details ?? []), ...contracts.faults(schema, value, 'pathParameters', name)];
    }
    checked[name] = value;
  }
  if (details) throw new DomainError('PATH_PARAMETER_INVALID', { details });
  return checked;
}
