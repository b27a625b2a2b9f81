import type { Fault, Occasion } from '../faults/fault.ts';
import type { Passage } from '../files/download.ts';
import type { OwnFile, UploadOutcome } from '../files/uploader.ts';
import type { Answer, Command, Complaint, DeviceEvent } from '../mqtt/messages.ts';
import type { Reaction } from './device-model.ts';

/** The events of a device for its listeners. */
export interface DeviceEvents {
  /** A command arrived; `reaction` says how the device handles it. */
  command: [command: Command, reaction: Reaction['kind']];
  /** An answer was given to the connection, or waits (while offline) for the next one. */
  answer: [answer: Answer, repeated: boolean];
  /** The service has acknowledged an answer, so its effects are durable there. */
  acknowledged: [answer: Answer];
  /** A download has ended, complete or not. */
  download: [passage: Passage];
  /** An event happened on the device. The device sends it now, or at its next connection. */
  event: [event: DeviceEvent];
  /** The service has acknowledged an event. */
  told: [event: DeviceEvent];
  /** An event was dropped because the device had no room for more. */
  forgotten: [event: DeviceEvent];
  /** A file was uploaded. */
  upload: [file: OwnFile];
  /** An upload will be attempted again. */
  uploadRetry: [];
  /** The upload of a recording or of a customer's file has ended, with any outcome. */
  uploaded: [outcome: UploadOutcome];
  /** The device is connected and subscribed. */
  online: [sessionPresent: boolean];
  /** The device went offline. `expected`: by `disconnect` or `drop`. */
  offline: [reason: string, expected: boolean];
  /** A connection ended before the device was online: it was cut off, or refused, while it logged in. */
  unopened: [];
  /** The service refused the device's credential at a reconnect, so the device stays offline. */
  refused: [error: Error];
  /** The service reported a fault in a message of the device, on `errors`. `provoked`: a played fault caused it. */
  complaint: [complaint: Complaint, provoked: boolean];
  /** More commands have arrived without a PUBACK or an answer than the contract allows. */
  overrun: [commands: number];
  /** A planned fault happens to the device. */
  fault: [fault: Fault, occasion: Occasion];
  /** The service broke the contract; a sentence says how. */
  violation: [fault: string];
}
