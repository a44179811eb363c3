// Methods that decorators mark: those of providers, such as `@OnJob` and `@Every`, which are found
// when the application starts, and those of controllers.
import type { INestApplicationContext } from '@nestjs/common';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';

export interface DecoratedMethod<Mark, Method> {
  /** What the decorator was given. */
  mark: Mark;
  /** `Class.method`, for error messages. */
  methodName: string;
  /** The method, bound to its provider. */
  run: Method;
}

/** A decorator for methods of one type. */
export type DecoratorOf<Method> = <Decorated extends Method>(
  prototype: object,
  name: string,
  descriptor: TypedPropertyDescriptor<Decorated>,
) => void;

/**
 * Every method that `SetMetadata` marked with the key. A provider may be listed twice, and may be a
 * value that is not an object.
 */
export function findDecoratedMethods<Mark, Method extends (...given: never[]) => unknown>(
  key: string,
  providers: readonly unknown[],
): DecoratedMethod<Mark, Method>[] {
  const scanner = new MetadataScanner();
  return [...new Set(providers)].flatMap((provider) => {
    if (typeof provider !== 'object' || provider === null) return [];
    const methods = provider as Record<string, Method>;
    const names = scanner.getAllMethodNames(Object.getPrototypeOf(provider) as object);
    return names.flatMap((name) => {
      const method = methods[name] as Method;
      const mark = Reflect.getMetadata(key, method) as Mark | undefined;
      if (mark === undefined) return [];
      const methodName = `${provider.constructor.name}.${name}`;
      return [{ mark, methodName, run: method.bind(provider) as Method }];
    });
  });
}

/** The methods of all controllers of an application, with the metadata of their decorators. */
export function listControllerMethods(application: Pick<INestApplicationContext, 'get'>): object[] {
  const scanner = new MetadataScanner();
  const modules = [...application.get(ModulesContainer).values()];
  return modules.flatMap(({ controllers }) =>
    [...controllers.values()].flatMap(({ metatype }) => {
      const prototype = metatype?.prototype as Record<string, object>;
      return scanner.getAllMethodNames(prototype).map((name) => prototype[name]!);
    }),
  );
}
