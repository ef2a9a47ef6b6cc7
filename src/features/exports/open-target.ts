// The target that the configuration names.
import type { Config } from '../../config.ts'
import { readExportUrl } from '../../lib/export-url.ts'
import { createFolderTarget } from './folder.ts'
import { createS3Target } from './s3.ts'
import type { Target } from './target.ts'

type ExportConfig = Pick<
  Config,
  'exportUrl' | 'exportS3Endpoint' | 'exportS3Region' | 'exportS3AccessKeyId' | 'exportS3SecretAccessKey'
>

/** Null: nothing is exported. */
export function openTarget(config: ExportConfig): Target | null {
  const url = config.exportUrl === null ? null : readExportUrl(config.exportUrl)
  if (url === null) return null
  if ('folder' in url) return createFolderTarget(url.folder)
  return createS3Target({
    ...url,
    endpoint: config.exportS3Endpoint,
    region: config.exportS3Region,
    accessKeyId: config.exportS3AccessKeyId ?? '',
    secretAccessKey: config.exportS3SecretAccessKey ?? '',
  })
}
