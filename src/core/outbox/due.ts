/** What is due for a device: an unfinished transaction, or the cancel of one that it may have got. */
export interface Due {
  transactionId: number;
  applicationId: string;
  operation: string;
  parameters: object;
  status: string;
  attempts: number;
  createdAt: number;
  updatedAt: number;
}
