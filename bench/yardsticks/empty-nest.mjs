// An application of Nest on Fastify without any module of its own, which listens. It has no
// database and no settings.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

class EmptyModule {}
Module({})(EmptyModule);

const application = await NestFactory.create(EmptyModule, new FastifyAdapter(), { logger: false });
await application.listen(0, '127.0.0.1');
process.stdout.write('listening\n');
