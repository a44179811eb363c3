// The operations of an API reference, as the fuzzer needs them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { referenceFiles, type Application } from '../support/reference-check.js';

/** The keywords that requests of the references have. */
export interface RequestSchema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: RequestSchema[];
  oneOf?: RequestSchema[];
  properties?: Record<string, RequestSchema>;
  required?: string[];
  additionalProperties?: RequestSchema | boolean;
  items?: RequestSchema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
}

export interface FuzzParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: RequestSchema;
}

export interface FuzzOperation {
  name: string;
  method: string;
  path: string;
  /** The header of the key that it needs. */
  keyHeader: string;
  parameters: FuzzParameter[];
  /** Of a JSON body. */
  body: RequestSchema | null;
  /** The types of a body that is a file. */
  fileTypes: string[];
}

interface Reference {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string;
        security: Record<string, unknown>[];
        parameters: FuzzParameter[];
        requestBody?: { content: Record<string, { schema: RequestSchema }> };
      }
    >
  >;
  components: {
    schemas: Record<string, RequestSchema>;
    securitySchemes: Record<string, { name: string }>;
  };
}

export interface Operations {
  operations: FuzzOperation[];
  schemas: Record<string, RequestSchema>;
}

export function readOperations(application: Application): Operations {
  const file = join(import.meta.dirname, '../../docs/reference', referenceFiles[application]);
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as Reference;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]): FuzzOperation => {
      const content = one.requestBody?.content ?? {};
      const body = content['application/json']?.schema ?? null;
      return {
        ...{ name: one.operationId, method: method.toUpperCase(), path },
        keyHeader: components.securitySchemes[Object.keys(one.security[0]!)[0]!]!.name,
        parameters: one.parameters,
        ...{ body, fileTypes: body ? [] : Object.keys(content) },
      };
    }),
  );
  return { operations, schemas: components.schemas };
}
