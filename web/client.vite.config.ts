// What users' browsers load: each a single file without a dependency, built one at a time (`--mode wall`). The server puts
// the wall's into its page.
import { readFileSync } from 'node:fs'
import { defineConfig, type Plugin } from 'vite'

/** The SDK comes with its types. */
const types: Plugin = {
  name: 'types',
  generateBundle() {
    const source = readFileSync(`${import.meta.dirname}/sdk/v1.d.ts`, 'utf8')
    this.emitFile({ type: 'asset', fileName: 'sdk.d.ts', source })
  },
}

export default defineConfig(({ mode: name }) => ({
  root: `${import.meta.dirname}/${name}`,
  publicDir: false,
  plugins: name === 'sdk' ? [types] : [],
  define: { 'process.env.NODE_ENV': '"production"' },
  build: {
    outDir: `${import.meta.dirname}/dist/client`,
    emptyOutDir: false,
    minify: true,
    target: ['chrome111', 'safari16.2', 'firefox113'], // those that know color-mix()
    cssCodeSplit: false,
    modulePreload: false,
    rolldownOptions: {
      input: `${import.meta.dirname}/${name}/main.ts`,
      output: { format: 'iife', entryFileNames: `${name}.js`, assetFileNames: `${name}[extname]` },
    },
  },
}))
