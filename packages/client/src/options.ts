/** What a client is made with. A key is needed for the operations that take it. */
export interface ConciliaOptions {
  baseUrl: string;
  /** Of a business system, with scopes; it belongs to one bank account. */
  apiKey?: string | undefined;
  adminKey?: string | undefined;
  partnerKey?: string | undefined;
  /** How long one attempt may take. */
  timeoutMs?: number | undefined;
  /** How often a request is sent at most. */
  maxAttempts?: number | undefined;
  /** Instead of the `fetch` of the platform. */
  fetch?: typeof fetch | undefined;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxAttempts?: number | undefined;
}

/** Of what changes something. */
export interface ChangeOptions extends RequestOptions {
  /**
   * Names the request: a repeat with it changes nothing again. Without it each call has a new one,
   * which stays the same when it is sent again.
   */
  idempotencyKey?: string | undefined;
}

/** Of what is sent to the bank. */
export interface OperationOptions extends ChangeOptions {
  /** Returns the pending operation at once, without waiting for the bank. */
  respondAsync?: boolean | undefined;
  /** Sends what may be a duplicate of another request. */
  allowDuplicate?: boolean | undefined;
}

/** A file of requests. */
export interface File {
  content: string | Uint8Array<ArrayBuffer>;
  type:
    | 'application/x-ndjson'
    | 'text/csv'
    | 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
}
