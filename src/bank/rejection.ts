// Turns a rejection of the bank into a fault of the service, so that the error body carries the
// trace id of the caller's request. Banks write `errors` as a map of paths or as a list of
// sentences, and may omit any field.
import { unlisted, type FaultCode, type FaultDetails } from '../platform/errors.js';
import { isJsonObject, parseJson } from '../platform/json/exact-json.js';

export function faultOfRejection({
  status,
  text,
}: {
  status: number;
  text: string;
}): [FaultCode, FaultDetails] {
  const body = parseJson(text);
  const { title, errors, code } = isJsonObject(body) ? body : {};
  const messages = readErrors(errors);
  const details = {
    ...(typeof title === 'string' && status !== 404 ? { public: title } : {}),
    ...(messages ? { errors: messages } : {}),
    ...(typeof code === 'string' ? { reason: unlisted(code) } : {}),
  };
  return [codes[status] ?? 'rule_broken', details];
}

const codes: Partial<Record<number, FaultCode>> = {
  400: 'validation_failed',
  404: 'not_found',
  409: 'conflict',
};

function readErrors(errors: unknown): Record<string, string[]> | null {
  if (Array.isArray(errors)) return atPath('$', errors);
  if (!isJsonObject(errors)) return null;
  const paths = Object.entries(errors).flatMap(([path, messages]) =>
    Object.entries(atPath(path, [messages].flat()) ?? {}),
  );
  return paths.length > 0 ? Object.fromEntries(paths) : null;
}

function atPath(path: string, messages: unknown[]): Record<string, string[]> | null {
  const sentences = messages.filter((message) => typeof message === 'string');
  return sentences.length > 0 ? { [path]: sentences } : null;
}
