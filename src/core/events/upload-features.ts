import type { Contracts } from '@lapel/schemas/contracts/contracts';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes, WebhookSetting } from '@lapel/schemas/contracts/types';
import type { SettingName } from '../applications/setting-columns.ts';
import { toUpload, toUploads } from './upload-answer.ts';

interface Failure {
  code: string;
  message: string;
}

/** One feature for which devices ask for upload URLs. */
interface UploadFeature<Data extends object> {
  /** The setting with the URL that is asked. */
  urlSetting: SettingName;
  /** The setting with the URL for the results; if it is not set, the feature is unavailable (specification, "Events"). */
  eventSetting: WebhookSetting;
  /** The `type` of the request to the customer. */
  type: string;
  /** The schema of the data in a device's request. */
  schema: 'mqtt/file-upload-url-request' | 'mqtt/recording-upload-urls-request';
  /** Checks rules that the schema cannot express. Throws REQUEST_INVALID. */
  check?(data: Data): void;
  /** Makes the device's answer from the customer's. Throws REQUEST_INVALID. */
  answer(contracts: Contracts, value: unknown, data: Data, allowHttp: boolean): object;
  /** Makes the event that reports a failure. */
  failed(data: Data, error: Failure): { type: string; data: object };
}

const feature = <Data extends object>(row: UploadFeature<Data>) => row as unknown as UploadFeature<object>;

function checkAnswer<Name extends 'webhooks/upload-url-answer' | 'webhooks/upload-urls-answer'>(
  contracts: Contracts,
  name: Name,
  value: unknown,
): SchemaTypes[Name] {
  const faults = contracts.faults(name, value);
  if (faults.length > 0) throw DomainError.invalid(...faults);
  return value as SchemaTypes[Name];
}

/** The features by the `type` of the device's request. */
export const UPLOAD_FEATURES = {
  fileUploadUrl: feature<SchemaTypes['mqtt/file-upload-url-request']>({
    urlSetting: 'fileUploadGetUrl',
    eventSetting: 'fileUploadEvent',
    type: 'fileUpload.url',
    schema: 'mqtt/file-upload-url-request',
    answer: (contracts, value, _data, allowHttp) =>
      toUpload(checkAnswer(contracts, 'webhooks/upload-url-answer', value), allowHttp, []),
    failed: ({ fileId, name }, error) => ({ type: 'fileUpload.failed', data: { fileId, name, error } }),
  }),
  recordingUploadUrls: feature<SchemaTypes['mqtt/recording-upload-urls-request']>({
    urlSetting: 'callRecGetMultiPresignedUrl',
    eventSetting: 'callFileSendEvent',
    type: 'recording.urls',
    schema: 'mqtt/recording-upload-urls-request',
    check({ files }) {
      const names = files.map(({ name }) => name);
      const repeated = names.findIndex((name, index) => names.indexOf(name) !== index);
      if (repeated < 0) return;
      const loc = ['body', 'files', String(repeated), 'name'];
      throw DomainError.invalid({ loc, msg: 'Name is there twice', type: 'extra_forbidden' });
    },
    answer(contracts, value, { files }, allowHttp) {
      const given = checkAnswer(contracts, 'webhooks/upload-urls-answer', value);
      const names = files.map(({ name }) => name);
      return toUploads(given, names, allowHttp);
    },
    failed: ({ callId }, error) => ({ type: 'recording.failed', data: { callId, error } }),
  }),
} satisfies Record<string, UploadFeature<object>>;

export type UploadRequest = keyof typeof UPLOAD_FEATURES;

export const isUploadRequest = (type: string): type is UploadRequest => Object.hasOwn(UPLOAD_FEATURES, type);
