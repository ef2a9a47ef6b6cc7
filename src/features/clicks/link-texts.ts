// What a user reads when a link does not lead on: what happened, why, and what to do.
import type { Language } from '../../lib/languages.ts'

type Said = readonly [title: string, text: string, advice: string]
export type LinkTexts = Record<'broken' | 'expired' | 'gone' | 'not_started' | 'full' | 'country' | 'platform' | 'not_here' | 'banned' | 'completed' | 'daily_limit' | 'busy' | 'too_many', Said> // prettier-ignore

const en: LinkTexts = {
  broken: ['This link does not work', 'It is incomplete or has been altered.', 'Go back to where you found it and open it again from there.'],
  expired: ['This link has expired', 'Links are valid for seven days.', 'Go back to where you found it to get a new one.'],
  gone: ['This offer has ended', 'It is no longer available.', 'Go back to where you found it and choose another offer.'],
  not_started: ['This offer has not started yet', 'It will open later.', 'Until then, go back to where you found it and choose another offer.'],
  full: ['This offer is full', 'It has reached its limit of participants for now.', 'Go back to where you found it and choose another offer.'],
  country: ['This offer is not for your country', 'It is only available in other countries.', 'Go back to where you found it and choose another offer.'],
  platform: ['This offer is not for your device', 'It is only available on other devices.', 'Open it on another device, or go back and choose another offer.'],
  not_here: ['This offer is not available here', 'The app or site where you found it no longer shows it.', 'Go back and choose another offer.'],
  banned: ['Offers are not available to you', 'Your access to these offers has been blocked.', 'If you think that is a mistake, contact the app or site where you found the offer.'],
  completed: ['You have already completed this offer', 'Each user can complete it only once.', 'Go back to where you found it and choose another offer.'],
  daily_limit: ['You have reached today’s limit', 'You have completed as many offers as the app or site allows per day.', 'Come back tomorrow. Offers you have already started still count.'],
  busy: ['Please try again', 'We could not record your visit.', 'Wait a minute, then reload this page.'],
  too_many: ['Too many visits', 'Too many links were opened from your network within a minute.', 'Wait a minute, then reload this page. If it keeps happening, try another network, such as mobile data.'],
} // prettier-ignore

const de: LinkTexts = {
  broken: ['Dieser Link funktioniert nicht', 'Er ist unvollständig oder wurde unterwegs verändert.', 'Gehe dorthin zurück, wo du ihn gefunden hast, und folge ihm von dort.'],
  expired: ['Dieser Link ist zu alt', 'Links sind sieben Tage gültig.', 'Gehe dorthin zurück, wo du ihn gefunden hast: Dort gibt es einen neuen.'],
  gone: ['Dieses Angebot ist beendet', 'Es ist nicht mehr verfügbar.', 'Gehe dorthin zurück, wo du es gefunden hast, und wähle ein anderes Angebot.'],
  not_started: ['Dieses Angebot hat noch nicht begonnen', 'Es öffnet später.', 'Wähle bis dahin ein anderes Angebot.'],
  full: ['Dieses Angebot ist voll', 'So viele haben teilgenommen, dass gerade kein Platz mehr ist.', 'Gehe dorthin zurück, wo du es gefunden hast, und wähle ein anderes Angebot.'],
  country: ['Dieses Angebot gilt nicht für dein Land', 'Es ist nur in anderen Ländern verfügbar.', 'Gehe dorthin zurück, wo du es gefunden hast, und wähle ein anderes Angebot.'],
  platform: ['Dieses Angebot gilt nicht für dein Gerät', 'Es ist nur auf anderen Geräten verfügbar.', 'Öffne es auf einem anderen Gerät, oder wähle ein anderes Angebot.'],
  not_here: ['Dieses Angebot ist hier nicht verfügbar', 'Die App oder Website, auf der du es gefunden hast, zeigt es nicht mehr.', 'Gehe zurück und wähle ein anderes Angebot.'],
  banned: ['Angebote sind für dich nicht verfügbar', 'Die Betreiber haben sie für dich gesperrt.', 'Wenn du das für einen Irrtum hältst, frage dort nach, wo du das Angebot gefunden hast.'],
  completed: ['Du hast dieses Angebot abgeschlossen', 'Jeder kann es einmal abschließen.', 'Gehe dorthin zurück, wo du es gefunden hast, und wähle ein anderes Angebot.'],
  daily_limit: ['Das reicht für heute', 'Du hast so viele Angebote abgeschlossen, wie die App oder Website an einem Tag erlaubt.', 'Komm morgen wieder. Was du vorher begonnen hast, zählt noch.'],
  busy: ['Bitte versuche es noch einmal', 'Dein Besuch konnte gerade nicht erfasst werden.', 'Warte eine Minute und lade diese Seite dann neu.'],
  too_many: ['Zu viele Besuche', 'Aus deinem Netz wurde Links innerhalb einer Minute zu oft gefolgt.', 'Warte eine Minute und lade diese Seite dann neu. Wenn es so bleibt, versuche es in einem anderen Netz, etwa mit mobilen Daten.'],
} // prettier-ignore

const es: LinkTexts = {
  broken: ['Este enlace no funciona', 'Está incompleto o se ha modificado por el camino.', 'Vuelve a donde lo encontraste y ábrelo desde allí.'],
  expired: ['Este enlace es demasiado antiguo', 'Los enlaces valen siete días.', 'Vuelve a donde lo encontraste: allí hay uno nuevo.'],
  gone: ['Esta oferta ha terminado', 'Ya no está disponible.', 'Vuelve a donde la encontraste y elige otra oferta.'],
  not_started: ['Esta oferta aún no ha empezado', 'Se abre más adelante.', 'Mientras tanto, elige otra oferta.'],
  full: ['Esta oferta está completa', 'Ha participado tanta gente que ahora no quedan plazas.', 'Vuelve a donde la encontraste y elige otra oferta.'],
  country: ['Esta oferta no es para tu país', 'Solo está disponible en otros países.', 'Vuelve a donde la encontraste y elige otra oferta.'],
  platform: ['Esta oferta no es para tu dispositivo', 'Solo está disponible en otros dispositivos.', 'Ábrela en otro dispositivo o elige otra oferta.'],
  not_here: ['Esta oferta no está disponible aquí', 'La app o el sitio donde la encontraste ya no la muestra.', 'Vuelve atrás y elige otra oferta.'],
  banned: ['Las ofertas no están disponibles para ti', 'Quienes las gestionan las han cerrado para ti.', 'Si crees que es un error, pregunta donde encontraste la oferta.'],
  completed: ['Ya has completado esta oferta', 'Cada usuario puede completarla una vez.', 'Vuelve a donde la encontraste y elige otra oferta.'],
  daily_limit: ['Es suficiente por hoy', 'Has completado tantas ofertas como la app o el sitio permite en un día.', 'Vuelve mañana. Lo que empezaste antes sigue contando.'],
  busy: ['Inténtalo de nuevo', 'No hemos podido registrar tu visita.', 'Espera un minuto y vuelve a cargar esta página.'],
  too_many: ['Demasiadas visitas', 'Desde tu red se han abierto demasiados enlaces en un minuto.', 'Espera un minuto y vuelve a cargar esta página. Si sigue ocurriendo, prueba con otra red, como los datos móviles.'],
} // prettier-ignore

const fr: LinkTexts = {
  broken: ['Ce lien ne fonctionne pas', 'Il est incomplet ou a été modifié en chemin.', 'Retournez là où vous l’avez trouvé et suivez-le de là.'],
  expired: ['Ce lien est trop ancien', 'Les liens sont valables sept jours.', 'Retournez là où vous l’avez trouvé : il y en a un nouveau.'],
  gone: ['Cette offre est terminée', 'Elle n’est plus disponible.', 'Retournez là où vous l’avez trouvée et choisissez une autre offre.'],
  not_started: ['Cette offre n’a pas encore commencé', 'Elle ouvre plus tard.', 'En attendant, choisissez une autre offre.'],
  full: ['Cette offre est complète', 'Il y a eu tant de participants qu’il ne reste plus de place pour le moment.', 'Retournez là où vous l’avez trouvée et choisissez une autre offre.'],
  country: ['Cette offre n’est pas pour votre pays', 'Elle n’est disponible que dans d’autres pays.', 'Retournez là où vous l’avez trouvée et choisissez une autre offre.'],
  platform: ['Cette offre n’est pas pour votre appareil', 'Elle n’est disponible que sur d’autres appareils.', 'Ouvrez-la sur un autre appareil, ou choisissez une autre offre.'],
  not_here: ['Cette offre n’est pas disponible ici', 'L’appli ou le site où vous l’avez trouvée ne la montre plus.', 'Revenez en arrière et choisissez une autre offre.'],
  banned: ['Les offres ne vous sont pas accessibles', 'Ceux qui les gèrent les ont fermées pour vous.', 'Si vous pensez que c’est une erreur, demandez là où vous avez trouvé l’offre.'],
  completed: ['Vous avez terminé cette offre', 'Chacun peut la terminer une fois.', 'Retournez là où vous l’avez trouvée et choisissez une autre offre.'],
  daily_limit: ['C’est assez pour aujourd’hui', 'Vous avez terminé autant d’offres que l’appli ou le site en permet par jour.', 'Revenez demain. Ce que vous avez commencé avant compte toujours.'],
  busy: ['Veuillez réessayer', 'Votre visite n’a pas pu être enregistrée.', 'Attendez une minute, puis rechargez cette page.'],
  too_many: ['Trop de visites', 'Trop de liens ont été suivis depuis votre réseau en une minute.', 'Attendez une minute, puis rechargez cette page. Si cela continue, essayez un autre réseau, comme les données mobiles.'],
} // prettier-ignore

const pt: LinkTexts = {
  broken: ['Este link não funciona', 'Está incompleto ou foi alterado no caminho.', 'Volte para onde o encontrou e abra-o de lá.'],
  expired: ['Este link é antigo demais', 'Os links valem sete dias.', 'Volte para onde o encontrou: lá há um novo.'],
  gone: ['Esta oferta terminou', 'Não está mais disponível.', 'Volte para onde a encontrou e escolha outra oferta.'],
  not_started: ['Esta oferta ainda não começou', 'Ela abre mais tarde.', 'Até lá, escolha outra oferta.'],
  full: ['Esta oferta está lotada', 'Tanta gente participou que não há mais vagas no momento.', 'Volte para onde a encontrou e escolha outra oferta.'],
  country: ['Esta oferta não é para o seu país', 'Só está disponível em outros países.', 'Volte para onde a encontrou e escolha outra oferta.'],
  platform: ['Esta oferta não é para o seu aparelho', 'Só está disponível em outros aparelhos.', 'Abra-a em outro aparelho ou escolha outra oferta.'],
  not_here: ['Esta oferta não está disponível aqui', 'O app ou site onde a encontrou não a mostra mais.', 'Volte e escolha outra oferta.'],
  banned: ['As ofertas não estão disponíveis para você', 'Quem as administra as fechou para você.', 'Se acha que é um engano, pergunte onde encontrou a oferta.'],
  completed: ['Você já concluiu esta oferta', 'Cada usuário pode concluí-la uma vez.', 'Volte para onde a encontrou e escolha outra oferta.'],
  daily_limit: ['Por hoje é o bastante', 'Você concluiu tantas ofertas quanto o app ou site permite por dia.', 'Volte amanhã. O que começou antes ainda conta.'],
  busy: ['Tente de novo', 'Não foi possível registrar sua visita agora.', 'Espere um minuto e recarregue esta página.'],
  too_many: ['Visitas demais', 'Links foram abertos da sua rede vezes demais em um minuto.', 'Espere um minuto e recarregue esta página. Se continuar, tente outra rede, como os dados móveis.'],
} // prettier-ignore

const pl: LinkTexts = {
  broken: ['Ten link nie działa', 'Jest niepełny lub został po drodze zmieniony.', 'Wróć tam, skąd pochodzi, i otwórz go stamtąd.'],
  expired: ['Ten link jest za stary', 'Linki są ważne siedem dni.', 'Wróć tam, skąd pochodzi: jest tam nowy.'],
  gone: ['Ta oferta się zakończyła', 'Nie jest już dostępna.', 'Wróć tam, skąd pochodzi, i wybierz inną ofertę.'],
  not_started: ['Ta oferta jeszcze się nie zaczęła', 'Otworzy się później.', 'Do tego czasu wybierz inną ofertę.'],
  full: ['Ta oferta jest pełna', 'Wzięło w niej udział tyle osób, że teraz nie ma już miejsc.', 'Wróć tam, skąd pochodzi, i wybierz inną ofertę.'],
  country: ['Ta oferta nie jest dla Twojego kraju', 'Jest dostępna tylko w innych krajach.', 'Wróć tam, skąd pochodzi, i wybierz inną ofertę.'],
  platform: ['Ta oferta nie jest na Twoje urządzenie', 'Jest dostępna tylko na innych urządzeniach.', 'Otwórz ją na innym urządzeniu lub wybierz inną ofertę.'],
  not_here: ['Ta oferta nie jest tutaj dostępna', 'Aplikacja lub strona, skąd pochodzi, już jej nie pokazuje.', 'Wróć i wybierz inną ofertę.'],
  banned: ['Oferty nie są dla Ciebie dostępne', 'Ci, którzy je prowadzą, zamknęli je dla Ciebie.', 'Jeśli to pomyłka, zapytaj tam, skąd pochodzi oferta.'],
  completed: ['Ta oferta jest już ukończona', 'Każdy może ją ukończyć raz.', 'Wróć tam, skąd pochodzi, i wybierz inną ofertę.'],
  daily_limit: ['Na dziś wystarczy', 'Liczba ofert, na którą aplikacja lub strona pozwala w ciągu dnia, została osiągnięta.', 'Wróć jutro. To, co zaczęto wcześniej, nadal się liczy.'],
  busy: ['Spróbuj ponownie', 'Nie udało się teraz zapisać wizyty.', 'Poczekaj minutę i wczytaj tę stronę ponownie.'],
  too_many: ['Zbyt wiele wizyt', 'Z Twojej sieci w ciągu minuty zbyt często otwierano linki.', 'Poczekaj minutę i wczytaj tę stronę ponownie. Jeśli to się powtarza, spróbuj innej sieci, na przykład danych komórkowych.'],
} // prettier-ignore

const tr: LinkTexts = {
  broken: ['Bu bağlantı çalışmıyor', 'Eksik veya yolda değiştirilmiş.', 'Bulduğun yere dön ve oradan aç.'],
  expired: ['Bu bağlantı çok eski', 'Bağlantılar yedi gün geçerlidir.', 'Bulduğun yere dön: orada yenisi var.'],
  gone: ['Bu teklif sona erdi', 'Artık mevcut değil.', 'Bulduğun yere dön ve başka bir teklif seç.'],
  not_started: ['Bu teklif henüz başlamadı', 'Daha sonra açılacak.', 'O zamana kadar başka bir teklif seç.'],
  full: ['Bu teklif dolu', 'O kadar çok kişi katıldı ki şu anda yer kalmadı.', 'Bulduğun yere dön ve başka bir teklif seç.'],
  country: ['Bu teklif ülken için değil', 'Yalnızca başka ülkelerde mevcut.', 'Bulduğun yere dön ve başka bir teklif seç.'],
  platform: ['Bu teklif cihazın için değil', 'Yalnızca başka cihazlarda mevcut.', 'Başka bir cihazda aç veya başka bir teklif seç.'],
  not_here: ['Bu teklif burada mevcut değil', 'Bulduğun uygulama veya site artık göstermiyor.', 'Geri dön ve başka bir teklif seç.'],
  banned: ['Teklifler senin için mevcut değil', 'Bu teklifleri yönetenler onları sana kapattı.', 'Bunun bir hata olduğunu düşünüyorsan teklifi bulduğun yere sor.'],
  completed: ['Bu teklifi tamamladın', 'Her kullanıcı bir kez tamamlayabilir.', 'Bulduğun yere dön ve başka bir teklif seç.'],
  daily_limit: ['Bugünlük bu kadar', 'Uygulamanın veya sitenin bir günde izin verdiği kadar teklif tamamladın.', 'Yarın tekrar gel. Önceden başladıkların hâlâ sayılır.'],
  busy: ['Lütfen yeniden dene', 'Ziyaretini şu anda kaydedemedik.', 'Bir dakika bekle, sonra bu sayfayı yeniden yükle.'],
  too_many: ['Çok fazla ziyaret', 'Ağından bir dakika içinde çok fazla bağlantı açıldı.', 'Bir dakika bekle, sonra bu sayfayı yeniden yükle. Devam ederse mobil veri gibi başka bir ağ dene.'],
} // prettier-ignore

const ar: LinkTexts = {
  broken: ['هذا الرابط لا يعمل', 'إنه غير مكتمل أو تغيّر في الطريق.', 'ارجع إلى حيث وجدته وافتحه من هناك.'],
  expired: ['هذا الرابط قديم جدًا', 'الروابط صالحة لسبعة أيام.', 'ارجع إلى حيث وجدته: ستجد رابطًا جديدًا.'],
  gone: ['انتهى هذا العرض', 'لم يعد متاحًا.', 'ارجع إلى حيث وجدته واختر عرضًا آخر.'],
  not_started: ['لم يبدأ هذا العرض بعد', 'سيُفتح لاحقًا.', 'حتى ذلك الحين اختر عرضًا آخر.'],
  full: ['هذا العرض مكتمل', 'شارك فيه عدد كبير ولم يبق مكان الآن.', 'ارجع إلى حيث وجدته واختر عرضًا آخر.'],
  country: ['هذا العرض ليس لبلدك', 'إنه متاح في بلدان أخرى فقط.', 'ارجع إلى حيث وجدته واختر عرضًا آخر.'],
  platform: ['هذا العرض ليس لجهازك', 'إنه متاح على أجهزة أخرى فقط.', 'افتحه على جهاز آخر أو اختر عرضًا آخر.'],
  not_here: ['هذا العرض غير متاح هنا', 'لم يعد التطبيق أو الموقع الذي وجدته فيه يعرضه.', 'ارجع واختر عرضًا آخر.'],
  banned: ['العروض غير متاحة لك', 'أغلقها القائمون عليها أمامك.', 'إذا كنت تعتقد أن هذا خطأ، فاسأل حيث وجدت العرض.'],
  completed: ['لقد أكملت هذا العرض', 'يمكن لكل مستخدم إكماله مرة واحدة.', 'ارجع إلى حيث وجدته واختر عرضًا آخر.'],
  daily_limit: ['هذا يكفي لليوم', 'أكملت من العروض ما يسمح به التطبيق أو الموقع في اليوم.', 'عد غدًا. ما بدأته من قبل ما زال يُحتسب.'],
  busy: ['حاول مرة أخرى', 'لم نتمكن من تسجيل زيارتك الآن.', 'انتظر دقيقة ثم أعد تحميل هذه الصفحة.'],
  too_many: ['زيارات كثيرة جدًا', 'فُتحت روابط من شبكتك مرات كثيرة خلال دقيقة.', 'انتظر دقيقة ثم أعد تحميل هذه الصفحة. إذا تكرر ذلك، فجرّب شبكة أخرى مثل بيانات الهاتف.'],
} // prettier-ignore

export const LINK_TEXTS: Record<Language, LinkTexts> = { en, de, es, fr, pt, pl, tr, ar }
