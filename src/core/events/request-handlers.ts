import type { Contracts } from '@lapel/schemas/contracts/contracts';
import { DomainError, faultText, isDatabaseAway, isPassing } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { createWork } from '../../runtime/idle.ts';
import { type Log, levelOf } from '../../runtime/log.ts';
import type { Request, RequestHandlers, ResponseBody } from '../requests/request-handlers.ts';
import { isUploadRequest, UPLOAD_FEATURES } from './upload-features.ts';
import type { UploadUrls } from './upload-urls.ts';

interface Parts {
  contracts: Pick<Contracts, 'read'>;
  log: Log;
  metrics: Pick<Metrics, 'mqttUnknownMembers'>;
  uploads: Pick<UploadUrls, 'ask'>;
  /** Returns a fresh URL for an unfinished install of the device. Throws TRANSACTION_NOT_FOUND. */
  freshUrl(deviceId: string, transactionId: number): Promise<object | { code: string; message: string }>;
}

const LONGEST_MESSAGE = 1000;
const UNSUPPORTED = { error: { code: 'UNSUPPORTED', message: 'requests of this type are not served.' } };
const INTERNAL = { error: { code: 'INTERNAL', message: 'the request could not be carried out; ask again later.' } };

const refusal = (thrown: DomainError): ResponseBody => {
  const message = `${thrown.message} ${faultText(thrown.details)}`.trim().slice(0, LONGEST_MESSAGE);
  return { error: { code: 'INVALID_PARAMETERS', message } };
};

/** Answers the requests of devices by type: for upload URLs, and for fresh download URLs. */
export function createRequestHandlers({ contracts, log, metrics, uploads, freshUrl }: Parts) {
  const work = createWork();

  async function download({ deviceId, asked }: Request): Promise<ResponseBody> {
    try {
      const found = await freshUrl(deviceId, (asked as { transactionId: number }).transactionId);
      if (!('code' in found)) return { data: found };
      return { error: { code: String(found.code), message: 'message' in found ? String(found.message) : '' } };
    } catch (thrown) {
      if (thrown instanceof DomainError && !isPassing(thrown)) return refusal(thrown);
      if (!isDatabaseAway(thrown))
        log[levelOf(thrown)]({ err: thrown, deviceId }, 'a fresh download URL could not be made');
      return INTERNAL;
    }
  }

  const handlers: RequestHandlers = {
    read(type, data) {
      const isUpload = isUploadRequest(type);
      if (!isUpload && type !== 'softwareDownloadUrl') return UNSUPPORTED;
      try {
        const schema = isUpload ? UPLOAD_FEATURES[type].schema : 'mqtt/software-download-url-request';
        // The request's data is read as tolerantly as the message that contains it: unknown members are ignored and
        // counted.
        const { value, unknown, leftOut, shortened } = contracts.read(schema, data);
        // The device needs a URL for each file that it has named, so a request for the others would not help it.
        if (shortened.size > 0) throw new DomainError('REQUEST_INVALID', { details: [...leftOut] });
        if (unknown.count > 0) metrics.mqttUnknownMembers.inc({ topic: 'requests' }, unknown.count);
        if (isUpload) UPLOAD_FEATURES[type].check?.(value);
        return { asked: value };
      } catch (thrown) {
        if (!(thrown instanceof DomainError)) throw thrown;
        return refusal(thrown);
      }
    },

    carryOut(type, request, respond) {
      if (isUploadRequest(type)) return uploads.ask({ ...request, type }, respond);
      work.begun();
      void download(request).then((body) => {
        respond(body);
        work.ended();
      });
    },
  };
  return { handlers, idle: work.idle };
}
