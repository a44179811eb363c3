// Reads the bodies of requests as bytes: webhook signatures cover the bytes, and JSON numbers are
// read from their text. No body is held beyond the limit of its route.
import type { IncomingMessage } from 'node:http';
import { pipeline, Transform, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';

/** What a route configures of its body; Fastify passes it on. */
interface BodyConfig {
  maxBodyBytes?: number;
  hasFileBody?: boolean;
}

/** Sets how bodies are read, for the routes that are registered after it. */
export function readBodiesAsBytes(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage, done) => {
    const { bodyLimit, config } = request.routeOptions;
    if (Number(request.headers['content-length'] ?? 0) > bodyLimit) done(bodyTooLarge(bodyLimit));
    else {
      const body = decodedBody(request.headers['content-encoding'], payload, bodyLimit);
      if (body instanceof AppError) done(body);
      // A file is read after its caller is authenticated.
      else if ((config as BodyConfig).hasFileBody) done(null, body);
      else readBytes(body, bodyLimit, done);
    }
  });
  server.addHook('onRoute', (route) => {
    const { maxBodyBytes } = (route.config ?? {}) as BodyConfig;
    if (maxBodyBytes !== undefined) route.bodyLimit = maxBodyBytes;
  });
  server.addHook('onSend', (_request, reply, _payload, done) => {
    // Fastify would close the connection. One that is closed while the rest of a body arrives is
    // reset, and the client may lose the response. The rest is dropped.
    if (reply.statusCode === 413) void reply.removeHeader('connection');
    done();
  });
}

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** The body without its content coding (RFC 9110). It is decoded up to the limit and no further. */
function decodedBody(
  contentEncoding: string | undefined,
  payload: Readable,
  limit: number,
): Readable | AppError {
  const coding = contentEncoding?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return payload;
  const create = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (!create) return unsupportedCoding(coding);
  const decoder = create();
  let bytes = 0;
  const limited = new Transform({
    transform: (chunk: Uint8Array, _, done) => {
      bytes += chunk.length;
      done(bytes > limit ? bodyTooLarge(limit) : null, chunk);
    },
  });
  // A caller that cannot send the rest would not read the response.
  pipeline(decoder, limited, () => payload.resume());
  payload.pipe(decoder);
  payload.once('close', () => {
    if (!payload.readableEnded) decoder.destroy(cutOff(undefined));
  });
  return limited;
}

function unsupportedCoding(coding: string): AppError {
  return new AppError('unsupported_media_type', {
    public: `The Content-Encoding ${coding.replace(/[^\w.,+ -]/g, '').slice(0, 40)} is not supported.`,
    headers: { 'Accept-Encoding': 'gzip, deflate, br, identity' },
  });
}

/** By events: an iterator costs several promises for each request. */
export function readBytes(
  payload: Readable,
  limit: number,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const end = (error: Error | null) => {
    payload.off('data', read).off('end', complete).off('error', fail).off('close', fail);
    // The error of a connection that breaks afterwards concerns nobody.
    payload.on('error', () => undefined);
    if (error) done(error);
    else done(null, chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
  };
  const read = (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > limit) {
      end(bodyTooLarge(limit));
      // A caller that cannot send the rest would not read the response.
      payload.resume();
    } else chunks.push(chunk);
  };
  const complete = () => end(null);
  const fail = (cause?: unknown) => end(cutOff(cause));
  payload.on('data', read).on('end', complete).on('error', fail).on('close', fail);
}

function cutOff(cause: unknown): AppError {
  if (cause instanceof AppError) return cause;
  return new AppError('malformed_body', { internal: 'the body was cut off', cause });
}

/**
 * The chunks of a body. The connection stays open when its reader stops early, so that the caller
 * gets a response. Throws `malformed_body` when the caller disconnects.
 */
export async function* chunksOf(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    yield* body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw cutOff(cause);
  } finally {
    // A caller that cannot send the rest would not read the response.
    body.resume();
  }
}

export function bodyTooLarge(limit: number): AppError {
  return new AppError('body_too_large', {
    public: `The body must have at most ${limit} bytes.`,
  });
}
