// The contract's error body, used for every error of the service and of the sandbox bank.
import { z } from 'zod';
import { errorCodes } from './error-codes.js';
import { describeAs, integer, nameSchemas } from './wire.js';

/** A union, so that clients know our codes, and read others. */
const errorCode = z
  .union([z.enum(errorCodes), z.string()])
  .describe('A refusal of the bank that is passed on may have a code of the bank.');
nameSchemas({ ErrorCode: errorCode });

export const errorBody = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: integer,
  traceId: z.string(),
  /** JSON path → messages. Present in validation errors. */
  errors: z.record(z.string(), z.array(z.string())).optional(),
  /** The machine-readable code of the error. */
  code: describeAs(z.string(), errorCode).optional(),
});

// RFC 7231 has no sections for 401, 422 and 429. They use the section on client errors, 6.5.
const sections: Record<number, string> = {
  400: '6.5.1',
  403: '6.5.3',
  404: '6.5.4',
  405: '6.5.5',
  406: '6.5.6',
  408: '6.5.7',
  409: '6.5.8',
  410: '6.5.9',
  413: '6.5.11',
  414: '6.5.12',
  415: '6.5.13',
  500: '6.6.1',
  501: '6.6.2',
  502: '6.6.3',
  503: '6.6.4',
  504: '6.6.5',
};

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  410: 'Gone',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** The most messages in an error body: nobody reads more, and a request may have thousands. */
const maxMessagesOfBody = 100;

/** The first `maxMessages` messages. A further one says how many are left out. */
export function firstErrors<Message>(
  errors: Record<string, Message[]>,
  maxMessages: number,
): Record<string, (Message | string)[]> {
  let left = maxMessages;
  const listed: Record<string, (Message | string)[]> = {};
  for (const [path, messages] of Object.entries(errors)) {
    if (left === 0) break;
    listed[path] = messages.slice(0, left);
    left -= listed[path].length;
  }
  const total = Object.values(errors).reduce((sum, messages) => sum + messages.length, 0);
  if (total <= maxMessages) return errors;
  const more = `${total - maxMessages} more problems are not listed.`;
  return { ...listed, $: [...(listed.$ ?? []), more] };
}

export const validationTitle = 'One or more validation errors occurred.';

/** Builds the error body of a status. `details.title` replaces the title of the status. */
export function buildErrorBody(
  status: number,
  traceId: string,
  details: { title?: string; errors?: Record<string, string[]>; code?: string } = {},
): z.output<typeof errorBody> {
  const section = sections[status] ?? (status < 500 ? '6.5' : '6.6');
  return {
    type: `https://tools.ietf.org/html/rfc7231#section-${section}`,
    title: details.title ?? (details.errors ? validationTitle : (titles[status] ?? 'Error')),
    status,
    traceId,
    ...(details.errors ? { errors: firstErrors(details.errors, maxMessagesOfBody) } : {}),
    ...(details.code ? { code: details.code } : {}),
  };
}
