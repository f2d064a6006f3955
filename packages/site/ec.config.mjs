import { defineEcConfig } from "@astrojs/starlight/expressive-code"

/** In a file of its own, because the plugin of OpenAPI replaces these options of astro.config.ts. */
export default defineEcConfig({
  defaultProps: { frame: "none" },
  styleOverrides: { codeFontSize: "0.8125rem" }
})
