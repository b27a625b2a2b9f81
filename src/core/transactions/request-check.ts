import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Application } from '../applications/application-repository.ts';
import type { Applications } from '../applications/applications.ts';
import type { Installation } from './installation.ts';
import { type InstallOperation, isInstall, needsUploads, type Operation, type Request } from './operations.ts';

export type InstallRequest = Extract<Request, { operation: InstallOperation }>;

export const isInstallRequest = <R extends Request>(request: R): request is Extract<R, InstallRequest> =>
  isInstall(request.operation);

/**
 * Checks that an application can have transactions (Events table: without deviceEvent, operations that create transactions
 * are unavailable). Throws KEY_NOT_ISSUED, NOTIFICATION_NOT_CONFIGURED.
 */
export function requireReady({ authenticationKey, settings }: Application): void {
  if (authenticationKey === null) throw new DomainError('KEY_NOT_ISSUED');
  if (settings.deviceEvent === null) throw new DomainError('NOTIFICATION_NOT_CONFIGURED');
}

/** Checks that devices can upload files, if the operation needs that. Throws UPLOADS_NOT_CONFIGURED. */
export function requireUploads({ settings }: Pick<Application, 'settings'>, operation: Operation): void {
  if (!needsUploads(operation)) return;
  const unset = (['fileUploadGetUrl', 'fileUploadEvent'] as const).find((setting) => settings[setting] === null);
  if (unset !== undefined) throw new DomainError('UPLOADS_NOT_CONFIGURED', { values: { setting: unset } });
}

interface Parts {
  database: Pick<Database, 'read'>;
  findApplication: Applications['findIn'];
  installation: Pick<Installation, 'obstacle' | 'admit'>;
}

/** Makes the function that checks a request before its devices are known. */
export function createRequestCheck({ database, findApplication, installation }: Parts) {
  /**
   * Checks what concerns no device: whether the application can have transactions, and whether the version can be installed.
   * Nothing is locked, because the submission for each device checks it again. Throws KEY_NOT_ISSUED,
   * NOTIFICATION_NOT_CONFIGURED, UPLOADS_NOT_CONFIGURED, and the errors of `admit`.
   */
  return async function check(applicationId: string, request: Request): Promise<void> {
    const application = await findApplication(database.read, applicationId);
    requireReady(application);
    requireUploads(application, request.operation);
    if (!isInstallRequest(request)) return;
    const { operation, asked } = request;
    const obstacle = await installation.obstacle(operation, asked, application.developerId);
    await installation.admit(database.read, operation, asked, application.developerId, obstacle);
  };
}
