/** The content of a response. */
export type ResponseBody = { data: object } | { error: { code: string; message: string } };

/** A request of a device that is carried out. */
export interface Request {
  deviceId: string;
  /** The application for which the device was activated when it asked; null when it was not. */
  applicationId: string | null;
  /** The data of the request; it obeys the schema of the request's type. */
  asked: object;
}

/** Carries out the requests of devices, by their `type`. */
export interface RequestHandlers {
  /** Returns the request's data in checked form, or at once the answer to a request that cannot be carried out. */
  read(type: string, data: object): { asked: object } | ResponseBody;
  /** Calls `respond` with the answer; with undefined when the service stops before there is an answer. */
  carryOut(type: string, request: Request, respond: (body: ResponseBody | undefined) => void): void;
}
