import { OPERATIONS } from '../api/operations.ts';
import { REFERENCED, type Row, SPECIFICATION } from './specification.ts';

/** The rows of commands that the specification does not name. */
const COMMANDS: Record<string, Row> = Object.fromEntries(
  OPERATIONS.filter(({ op, isCommand }) => isCommand && !(op in SPECIFICATION) && !(op in REFERENCED)).map(
    ({ op, method, path, scope }) => [
      op,
      { key: `${method} /v1/applications/{applicationId}${path}`, scope, statuses: [201, 400, 401, 403, 404, 500] },
    ],
  ),
);

/** Every row: the specification's table, then the operations that it refers to, then further commands. */
export const ROWS: Record<string, Row> = { ...SPECIFICATION, ...REFERENCED, ...COMMANDS };
