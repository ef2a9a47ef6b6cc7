import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { licences } from '../scripts/licences.ts'

export default defineConfig({
  root: `${import.meta.dirname}/dashboard`,
  publicDir: false,
  plugins: [react(), licences('licences.txt')],
  server: { fs: { allow: [`${import.meta.dirname}/..`] } }, // the code that pages show: examples/
  html: { cspNonce: '__NONCE__' },
  build: {
    outDir: `${import.meta.dirname}/dist`,
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2023',
    chunkSizeWarningLimit: 700,
  },
})
