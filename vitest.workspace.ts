import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["packages/*/test/**/*.test.ts"],
          exclude: ["**/*.integration.test.ts"]
        }
      },
      {
        test: {
          name: "integration",
          include: ["packages/*/test/**/*.integration.test.ts"],
          globalSetup: ["packages/control-plane/test/support/PostgresServer.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000
        }
      }
    ]
  }
})
